#include "ccp.h"
bool ccp_peers(ccp_bench *bench) { (void)bench; return true; }
