label-0 | w0 w29 w10:-0.741 w38
label-0 0.732 | w0:0.00462 w29 w10 w29:1.68
label-1 1.57 | w12 w12 w12 w4
label-0 | w0:-1.59 w29 w10 w16:-1.68
label-2 1.48 | w0 w23 w20 w37
label-2 | w0 w23 w17 w29
label-3 | w25 w1 w9:1.46 w0
label-0 | w0 w33:-0.406 w18 w16:0.159
label-4 0.792 | w5:0.259 w34 w33 w10:-1.61
label-0 | w0 w29 w10:-1.92 w16
label-5 | w34 w1 w27:-1.53 w5
label-3 | w20 w1 w9:0.51 w33
label-6 1.39 | w32:-0.0913 w38:0.501 w27:0.0103 w36
label-4 | w5:-0.339 w22 w33:-0.293 w31:-1.95
label-7 | w3 w34 w26 w29:0.759
label-5 | w34 w1 w27 w5
label-8 1.24 | w13:-1.2 w11 w23:0.934 w13
label-2 1.28 | w0 w23 w17:1.56 w37
label-9 | w18 w16 w14:1.01 w35:0.666
label-1 | w12 w13:1.84 w12 w4
label-10 1.2 | w37 w13:-0.00715 w2:0.615 w2:-0.217
label-2 2 | w0 w23 w17 w7
label-11 | w7:-0.825 w35 w11:0.354 w20:0.74
label-5 1.36 | w34 w1:1.49 w7 w5
label-12 | w31 w15:-0.489 w21:1.65 w11
label-6 | w22:0.697 w24 w27:1.76 w36
label-13 1.61 | w7 w12 w28:-1.66 w27
label-4 | w5 w22 w33:-0.878 w31:1.38
label-14 | w36:0.681 w9 w32 w6
label-9 | w18 w16:-0.95 w27 w35
label-15 | w21 w39:-0.728 w3:-1.1 w29:0.518
label-13 | w32:0.978 w30:-1.1 w28 w27
label-16 0.7 | w35:0.515 w4 w39:0.197 w36:0.0796
label-0 1.22 | w0 w29 w10 w16:0.519
label-17 | w29 w24 w36 w1
label-12 | w28 w21 w32 w1
label-18 | w12 w32 w33 w4
label-7 | w2 w34 w26:0.786 w29
label-19 | w12 w0:1.47 w39 w9:-1.11
label-19 | w29 w0 w39 w9
label-20 | w34 w36:1.42 w11 w32
label-0 | w0 w29 w10 w16
label-21 | w17 w31 w5:1.75 w39:-1.89
label-3 0.567 | w20 w1 w9 w33
label-22 1.79 | w7 w15 w30 w18
label-5 1.21 | w34:-0.789 w1 w27 w5
label-23 | w22 w34:-0.515 w21:0.711 w34:-0.281
label-18 | w12:-0.462 w32 w6 w21:0.402
label-24 0.877 | w9:-0.13 w33:-0.669 w22 w1
label-9 | w18 w16 w14 w35
label-25 | w12:1.69 w23:-1.7 w35 w33
label-0 0.99 | w0 w15:1.54 w10 w16
label-26 | w38 w28 w8 w21:0.385
label-0 | w0 w29:1.2 w10 w16:-1.51
label-27 | w7 w18 w30 w39
label-6 1.46 | w32 w24 w27:1.78 w36:-0.97
label-28 | w8 w30:1.15 w11 w10
label-6 | w32 w24 w27 w36
label-29 | w16:-1.43 w30 w5 w2
label-16 | w35:-1.98 w11 w39 w36
label-30 | w26:-0.494 w7 w39 w28:-1.57
label-3 | w20 w38:1.42 w27:1.57 w33
label-31 | w38 w30:-0.622 w34:0.27 w37
label-2 | w0 w23 w17 w37
label-32 | w14 w13:1.89 w14:1.25 w21
label-20 | w34 w36 w11 w32
label-33 | w15 w9 w32:1.28 w15
label-6 | w37 w24 w27 w34:0.462
label-34 | w26 w11:-0.0213 w25:-1.76 w34
label-6 0.603 | w32 w24 w39:-0.945 w36
label-35 1.03 | w37 w7 w37 w4
label-4 | w5 w22 w0 w31
label-36 1.12 | w8 w4 w5 w0:0.776
label-16 | w39 w11 w39 w36
label-37 | w6 w31:-0.913 w31:-0.825 w25
label-0 | w0 w1 w10 w16:-0.00452
label-38 0.577 | w10 w21:1.89 w9:0.0533 w21
label-0 | w0 w30 w10:-0.947 w34
label-39 0.788 | w15 w7 w35:1.88 w6
label-2 | w0 w23 w17 w13
