/* Tables and coefficients of base/trig.h and base/power.h. Made by scripts/make-elementary: change
 * that. */
#ifndef TL_BASE_ELEMENTARY_TABLES_H
#define TL_BASE_ELEMENTARY_TABLES_H

/* clang-format off */

/* ---- trigonometry ---- */

#define TL_HALF_PI_1 0x1.921fb54400000p+0
#define TL_HALF_PI_2 0x1.0b4611a600000p-34
#define TL_HALF_PI_3 0x1.3198a2e037073p-69
#define TL_HALF_PI_4 0x1.129024e088a68p-123
#define TL_HALF_PI_HIGH 0x1.921fb54442d18p+0
#define TL_HALF_PI_LOW 0x1.1a62633145c07p-54
#define TL_WHOLE_PI_HIGH 0x1.921fb54442d18p+1
#define TL_WHOLE_PI_LOW 0x1.1a62633145c07p-53
#define TL_PER_HALF_PI 0x1.45f306dc9c883p-1
#define TL_SIN_TERMS \
  {-0x1.5555555555555p-3, 0x1.1111111111110p-7, -0x1.a01a01a01992fp-13, \
   0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33, \
   -0x1.ab16f5caa198ap-41}
#define TL_COS_TERMS \
  {0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d06p-16, \
   -0x1.27e4fb77125c5p-22, 0x1.1eed8deac3dfep-29, -0x1.9394b8bd50ae1p-37, \
   0x1.ab779550c8d9bp-45}
#define TL_ATAN_TERMS \
  {-0x1.5555555555555p-2, 0x1.9999999999999p-3, -0x1.2492492491eb9p-3, \
   0x1.c71c71bc24abep-4, -0x1.745ccce36fb4ep-4, 0x1.3a2b1a65d0469p-4}
/* atan(k / 16) in two parts. */
#define TL_ATAN_TABLE \
  {{0, 0}, {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60}, \
   {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59}, {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58}, \
   {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57}, {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57}, \
   {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56}, {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56}, \
   {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56}, {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56}, \
   {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58}, {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55}, \
   {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56}, {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57}, \
   {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56}, {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56}, \
   {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}}
/* 2/pi in words of 32 bits, behind two that are 0. */
#define TL_TWO_OVER_PI \
  {0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, \
   0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, \
   0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, \
   0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, \
   0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, \
   0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, \
   0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu}

/* ---- powers ---- */

#define TL_LN2_32_HIGH 0x1.62e42fefa0000p-6
#define TL_LN2_32_LOW 0x1.cf79abc9e3b3ap-45
#define TL_PER_LN2_32 0x1.71547652b82fep+5
#define TL_LN2_HIGH 0x1.62e42fefa3800p-1
#define TL_LN2_LOW 0x1.ef35793c76730p-45
#define TL_EXP_TERMS \
  {0x1.0000000000000p-1, 0x1.5555555555555p-3, 0x1.555555554e4e3p-5, \
   0x1.111111110df17p-7, 0x1.6c170de5ef866p-10, 0x1.a01a459aa0970p-13}
#define TL_EXPM1_TERMS \
  {0x1.5555555555555p-3, 0x1.5555555555556p-5, 0x1.1111111111111p-7, \
   0x1.6c16c16c16214p-10, 0x1.a01a01a019ac3p-13, 0x1.a01a01a74077ap-16, \
   0x1.71de3a593c8b9p-19, 0x1.27e4da1e12fb1p-22, 0x1.ae6432edf6fafp-26, \
   0x1.1f75a3caadff5p-29, 0x1.61b58491cefd7p-33}
#define TL_LOG_TERMS \
  {0x1.5555555555555p-2, -0x1.0000000000000p-2, 0x1.99999999999b2p-3, \
   -0x1.555555555556cp-3, 0x1.24924920c9883p-3, -0x1.fffffff90ff35p-4, \
   0x1.c7226139b3600p-4, -0x1.999f0a6d798ebp-4}
/* 2^(k / 32) in two parts. */
#define TL_EXP_TABLE \
  {{0x1.0000000000000p+0, 0}, {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55}, \
   {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54}, {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54}, \
   {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55}, {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54}, \
   {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54}, {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55}, \
   {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55}, {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54}, \
   {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55}, {0x1.44e086061892dp+0, 0x1.89b7a04ef80d0p-59}, \
   {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56}, {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55}, \
   {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54}, {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54}, \
   {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54}, {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55}, \
   {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55}, {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54}, \
   {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54}, {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57}, \
   {0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56}, {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54}, \
   {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54}, {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56}, \
   {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55}, {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56}, \
   {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55}, {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54}, \
   {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54}, {0x1.f50765b6e4540p+0, 0x1.9d3e12dd8a18bp-54}}
/* c = 128 / k to a double, and -ln c in two parts, for k from TL_LOG_FIRST on. */
#define TL_LOG_FIRST 90
#define TL_LOG_TABLE \
  {{0x1.6c16c16c16c17p+0, -0x1.68ac83e9c6a15p-2, 0x1.acd8a9145ff44p-57}, \
   {0x1.6816816816817p+0, -0x1.5d5bddf595f31p-2, -0x1.d5f75b9a23ae4p-59}, \
   {0x1.642c8590b2164p+0, -0x1.522ae0738a3d7p-2, -0x1.3840b263acb43p-56}, \
   {0x1.6058160581606p+0, -0x1.4718dc271c41cp-2, -0x1.d8fb4c14c56eep-56}, \
   {0x1.5c9882b931057p+0, -0x1.3c25277333183p-2, -0x1.152d81af5713ap-56}, \
   {0x1.58ed2308158edp+0, -0x1.314f1e1d35ce3p-2, -0x1.22966f61a3c23p-56}, \
   {0x1.5555555555555p+0, -0x1.269621134db91p-2, -0x1.e0efadd9db02ap-56}, \
   {0x1.51d07eae2f815p+0, -0x1.1bf99635a6b95p-2, 0x1.e9575c2124912p-56}, \
   {0x1.4e5e0a72f0539p+0, -0x1.1178e8227e47ap-2, -0x1.b8ce2d07f1cb7p-56}, \
   {0x1.4afd6a052bf5bp+0, -0x1.07138604d5864p-2, 0x1.24e912b16ec8bp-60}, \
   {0x1.47ae147ae147bp+0, -0x1.f991c6cb3b37ap-3, -0x1.ecca0cdf30143p-58}, \
   {0x1.446f86562d9fbp+0, -0x1.e530effe71013p-3, 0x1.f7627ef82f3f0p-57}, \
   {0x1.4141414141414p+0, -0x1.d1037f2655e7bp-3, 0x1.3f3adb7b71cbcp-58}, \
   {0x1.3e22cbce4a902p+0, -0x1.bd087383bd8aap-3, 0x1.1165504ad749ep-59}, \
   {0x1.3b13b13b13b14p+0, -0x1.a93ed3c8ad9e5p-3, -0x1.bcafa9de97202p-57}, \
   {0x1.3813813813814p+0, -0x1.95a5adcf70182p-3, -0x1.8a16283fdbd1cp-57}, \
   {0x1.3521cfb2b78c1p+0, -0x1.823c16551a3c0p-3, -0x1.6dcd318f4187ep-57}, \
   {0x1.323e34a2b10bfp+0, -0x1.6f0128b756ab9p-3, 0x1.37967087859b9p-59}, \
   {0x1.2f684bda12f68p+0, -0x1.5bf406b543db0p-3, 0x1.1f5b44c0df7f7p-61}, \
   {0x1.2c9fb4d812ca0p+0, -0x1.4913d8333b563p-3, 0x1.0d5604930f137p-58}, \
   {0x1.29e4129e4129ep+0, -0x1.365fcb0159014p-3, -0x1.bea08d2dca256p-57}, \
   {0x1.27350b8812735p+0, -0x1.23d712a49c201p-3, -0x1.51c7e9efae297p-57}, \
   {0x1.2492492492492p+0, -0x1.1178e8227e47ap-3, 0x1.0e63a5f01c693p-58}, \
   {0x1.21fb78121fb78p+0, -0x1.fe89139dbd565p-4, 0x1.ac9f4215f9394p-58}, \
   {0x1.1f7047dc11f70p+0, -0x1.da7276384469ep-4, -0x1.401fa71733017p-58}, \
   {0x1.1cf06ada2811dp+0, -0x1.b6ac88dad5b1dp-4, 0x1.002bf768e52d0p-58}, \
   {0x1.1a7b9611a7b96p+0, -0x1.9335e5d594988p-4, 0x1.478a85704ccb7p-58}, \
   {0x1.1811811811812p+0, -0x1.700d30aeac0e8p-4, -0x1.a36a677b4c8b2p-59}, \
   {0x1.15b1e5f75270dp+0, -0x1.4d3115d207eacp-4, -0x1.da7d0b1e10b2fp-60}, \
   {0x1.135c81135c811p+0, -0x1.2aa04a44717a1p-4, -0x1.aea2c72d05c08p-58}, \
   {0x1.1111111111111p+0, -0x1.08598b59e3a06p-4, 0x1.dd7009902bf32p-58}, \
   {0x1.0ecf56be69c90p+0, -0x1.ccb73cdddb2d0p-5, 0x1.e48fb0500efd5p-59}, \
   {0x1.0c9714fbcda3bp+0, -0x1.894aa149fb34bp-5, 0x1.2ba0b44cfaee5p-59}, \
   {0x1.0a6810a6810a7p+0, -0x1.466aed42de3f9p-5, 0x1.9badefe942718p-60}, \
   {0x1.0842108421084p+0, -0x1.0415d89e74440p-5, -0x1.c05cf1d753621p-59}, \
   {0x1.0624dd2f1a9fcp+0, -0x1.8492528c8cac5p-6, 0x1.d192d0619fa68p-60}, \
   {0x1.0410410410410p+0, -0x1.0205658935837p-6, -0x1.27c8e8416e717p-60}, \
   {0x1.0204081020408p+0, -0x1.010157588de69p-7, -0x1.46662d417cecep-62}, \
   {0x1.0000000000000p+0, 0, 0}, \
   {0x1.fc07f01fc07f0p-1, 0x1.fe02a6b106799p-8, -0x1.e44b7e3711e7fp-67}, \
   {0x1.f81f81f81f820p-1, 0x1.fc0a8b0fc03c4p-7, -0x1.83092c5964281p-62}, \
   {0x1.f44659e4a4271p-1, 0x1.7b91b07d5b126p-6, -0x1.6d80ab38e9430p-62}, \
   {0x1.f07c1f07c1f08p-1, 0x1.f829b0e7832f8p-6, 0x1.33e3f04f1ef25p-60}, \
   {0x1.ecc07b301ecc0p-1, 0x1.39e87b9febd68p-5, -0x1.5bfa937f551b7p-59}, \
   {0x1.e9131abf0b767p-1, 0x1.77458f632dcffp-5, 0x1.8d3ca87b92968p-63}, \
   {0x1.e573ac901e574p-1, 0x1.b42dd711971b9p-5, 0x1.0a34531f67db5p-59}, \
   {0x1.e1e1e1e1e1e1ep-1, 0x1.f0a30c01162a8p-5, 0x1.85f325c5bbacdp-59}, \
   {0x1.de5d6e3f8868ap-1, 0x1.16536eea37ae3p-4, 0x1.2189705cf74cap-58}, \
   {0x1.dae6076b981dbp-1, 0x1.341d7961bd1d0p-4, -0x1.3599f227becbbp-58}, \
   {0x1.d77b654b82c34p-1, 0x1.51b073f06183cp-4, -0x1.5b61c65e5741ap-58}, \
   {0x1.d41d41d41d41dp-1, 0x1.6f0d28ae56b4ep-4, -0x1.20db323097324p-59}, \
   {0x1.d0cb58f6ec074p-1, 0x1.8c345d6319b23p-4, -0x1.294d2f5668495p-58}, \
   {0x1.cd85689039b0bp-1, 0x1.a926d3a4ad562p-4, -0x1.d7a16eab1e2adp-59}, \
   {0x1.ca4b3055ee191p-1, 0x1.c5e548f5bc743p-4, 0x1.2eb0bf7c0b0d9p-59}, \
   {0x1.c71c71c71c71cp-1, 0x1.e27076e2af2eap-4, -0x1.61578001e015ap-60}, \
   {0x1.c3f8f01c3f8f0p-1, 0x1.fec9131dbeabcp-4, -0x1.5746b9981b36cp-58}, \
   {0x1.c0e070381c0e0p-1, 0x1.0d77e7cd08e5bp-3, 0x1.9a5dc5e9030adp-57}, \
   {0x1.bdd2b899406f7p-1, 0x1.1b72ad52f67a2p-3, -0x1.fbe7ee5c69946p-57}, \
   {0x1.bacf914c1bad0p-1, 0x1.29552f81ff521p-3, 0x1.301771c407dc0p-57}, \
   {0x1.b7d6c3dda338bp-1, 0x1.371fc201e8f75p-3, 0x1.e6cb62af18a02p-62}, \
   {0x1.b4e81b4e81b4fp-1, 0x1.44d2b6ccb7d1cp-3, 0x1.7d3d950f87e23p-59}, \
   {0x1.b2036406c80d9p-1, 0x1.526e5e3a1b438p-3, -0x1.546ff8a470d3ap-57}, \
   {0x1.af286bca1af28p-1, 0x1.5ff3070a793d6p-3, -0x1.bc60efafc6f6cp-58}, \
   {0x1.ac5701ac5701bp-1, 0x1.6d60fe719d21bp-3, 0x1.d551d97132e87p-57}, \
   {0x1.a98ef606a63bep-1, 0x1.7ab890210d907p-3, -0x1.1072534a57e7dp-57}, \
   {0x1.a6d01a6d01a6dp-1, 0x1.87fa06520c911p-3, -0x1.9f7fdbfa08d9ap-57}, \
   {0x1.a41a41a41a41ap-1, 0x1.9525a9cf456b6p-3, -0x1.26fb3e2b1d1dap-57}, \
   {0x1.a16d3f97a4b02p-1, 0x1.a23bc1fe2b561p-3, 0x1.24dc46c1ea664p-57}, \
   {0x1.9ec8e951033d9p-1, 0x1.af3c94e80bff3p-3, 0x1.a3398064df33ep-57}, \
   {0x1.9c2d14ee4a102p-1, 0x1.bc286742d8cd4p-3, 0x1.cfce744870f57p-58}, \
   {0x1.999999999999ap-1, 0x1.c8ff7c79a9a20p-3, -0x1.4f689f8434011p-57}, \
   {0x1.970e4f80cb872p-1, 0x1.d5c216b4fbb94p-3, -0x1.a37794d03657dp-58}, \
   {0x1.948b0fcd6e9e0p-1, 0x1.e27076e2af2e8p-3, -0x1.61578001e015ep-59}, \
   {0x1.920fb49d0e229p-1, 0x1.ef0adcbdc5935p-3, 0x1.e8637950dc20dp-57}, \
   {0x1.8f9c18f9c18fap-1, 0x1.fb9186d5e3e29p-3, 0x1.355519b0de535p-57}, \
   {0x1.8d3018d3018d3p-1, 0x1.0402594b4d041p-2, -0x1.08ec217a5022dp-57}, \
   {0x1.8acb90f6bf3aap-1, 0x1.0a324e27390e2p-2, 0x1.bdcfde8061c03p-56}, \
   {0x1.886e5f0abb04ap-1, 0x1.1058bf9ae4ad4p-2, 0x1.3f415699663ecp-63}, \
   {0x1.8618618618618p-1, 0x1.1675cababa60fp-2, 0x1.ce63eab883727p-61}, \
   {0x1.83c977ab2beddp-1, 0x1.1c898c16999fbp-2, 0x1.9f1a39d500e3cp-56}, \
   {0x1.8181818181818p-1, 0x1.22941fbcf7966p-2, -0x1.dbd7ac258a2bdp-58}, \
   {0x1.7f405fd017f40p-1, 0x1.2895a13de86a4p-2, 0x1.7ad24c13f040fp-56}, \
   {0x1.7d05f417d05f4p-1, 0x1.2e8e2bae11d31p-2, -0x1.1e99b72bd7bf2p-57}, \
   {0x1.7ad2208e0ecc3p-1, 0x1.347dd9a987d56p-2, -0x1.16ea62c048cfbp-56}, \
   {0x1.78a4c8178a4c8p-1, 0x1.3a64c556945eap-2, 0x1.cbcd735d03424p-60}, \
   {0x1.767dce434a9b1p-1, 0x1.404308686a7e4p-2, -0x1.f79f6c1059cdbp-57}, \
   {0x1.745d1745d1746p-1, 0x1.4618bc21c5ec2p-2, -0x1.7a42642661c62p-61}, \
   {0x1.724287f46debcp-1, 0x1.4be5f957778a1p-2, -0x1.4b366b609027ap-58}, \
   {0x1.702e05c0b8170p-1, 0x1.51aad872df82ep-2, -0x1.d8db0a7cc1543p-56}, \
   {0x1.6e1f76b4337c7p-1, 0x1.5767717455a6cp-2, -0x1.fb2a49af933e8p-57}, \
   {0x1.6c16c16c16c17p-1, 0x1.5d1bdbf5809cap-2, -0x1.7dc9c7c23801fp-56}, \
   {0x1.6a13cd1537290p-1, 0x1.62c82f2b9c796p-2, -0x1.090a0dd59fe35p-58}, \
   {0x1.6816816816817p-1, 0x1.686c81e9b14adp-2, 0x1.710af840538e3p-56}}
/* Stirling's series of the gamma function: B_2k / (2k (2k - 1)); and ln(2 pi)/2. */
#define TL_GAMMA_TERMS \
  {0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11, \
   -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10, \
   0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6}
#define TL_HALF_LN_2PI_HIGH 0x1.d67f1c864beb5p-1
#define TL_HALF_LN_2PI_LOW -0x1.65b5a1b7ff5dfp-55

/* clang-format on */

#endif
