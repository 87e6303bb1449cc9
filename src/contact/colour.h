/* Limits of the numbers of colours: for colour.c, and for the test that colours in the slow way. */
#ifndef TL_CONTACT_COLOUR_H
#define TL_CONTACT_COLOUR_H

#define TL_COLOURS_OF_BODY  63  /* colours of the contacts of one body: bits of a mask */
#define TL_LAYERS_OF_BUNDLE 32  /* contacts of one pair that get colours of their own */
#define TL_COLOURS_OF_TILE  256 /* the last of them is serial */

#endif
