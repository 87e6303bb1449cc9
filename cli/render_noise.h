/* Numbers that look random and fill pictures evenly. */
#ifndef CLI_RENDER_NOISE_H
#define CLI_RENDER_NOISE_H

/* A square of blue noise: all numbers of (0, 1) are equally frequent, and neighbours differ, so
 * that the noise of few samples is fine-grained, without blotches. */
#define NOISE_SIDE 64

typedef struct noise {
  float at[NOISE_SIDE * NOISE_SIDE];
} noise;

/* Takes a few milliseconds; always gives the same result. */
void noise_make(noise *to);

enum { NOISE_PAIRS = 3 };

typedef struct noise_sampler {
  float offset[2 * NOISE_PAIRS]; /* of this pixel */
  int index;                     /* of the sample */
} noise_sampler;

noise_sampler noise_sampler_of(const noise *from, int x, int y);

/* Writes pair k of the sample to u, v: points that fill the square as the index grows, by the
 * generalised golden ratio (Roberts 2018). */
static inline void noise_take(const noise_sampler *s, int k, float *u, float *v) {
  const float i = (float)s->index;
  *u = s->offset[2 * k] + 0.75487767f * i;
  *v = s->offset[2 * k + 1] + 0.56984029f * i;
  *u -= (float)(int)*u;
  *v -= (float)(int)*v;
}

#endif
