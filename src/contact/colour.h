/* How many colours there may be: for colour.c, and for the test that colours the slow way. */
#ifndef TL_CONTACT_COLOUR_H
#define TL_CONTACT_COLOUR_H

#define TL_COLOURS_OF_BODY  63  /* colours that its contacts may have: bits of a mask */
#define TL_LAYERS_OF_BUNDLE 32  /* contacts of one pair that get colours of their own */
#define TL_COLOURS_OF_TILE  256 /* the last of them is serial */

#endif
