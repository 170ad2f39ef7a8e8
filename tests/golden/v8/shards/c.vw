label-0 | w0 w29 w10 w16
label-0 | w0 w29 w10 w16
label-1 | w12 w12 w12:0.0447 w27
label-0 0.901 | w15 w29:-0.376 w10 w16:-1.1
label-2 | w0 w10:1.31 w17:0.33 w37
label-1 | w12 w2 w12 w4
label-3 1.44 | w20 w1 w9:0.412 w33:1.9
label-0 1.2 | w0 w29:-1.28 w10 w16
label-4 0.999 | w5:0.0193 w22 w0:-1.93 w31
label-0 1.07 | w0 w29 w10 w16
label-5 | w34 w1 w27 w5
label-2 | w0:-0.788 w23:-0.858 w17 w14
label-6 1.32 | w32 w24 w27:-1.36 w14
label-4 0.557 | w5 w38 w33:1.59 w31:1.12
label-7 | w2 w32 w22 w35
label-0 0.663 | w9 w36 w37 w16
label-8 0.723 | w13:-1.28 w23 w20 w38:-1.43
label-2 1.17 | w0 w27:-1.68 w17 w37
label-9 1.59 | w18 w16:0.428 w14 w35
label-0 0.696 | w0:-0.984 w29 w10 w16:-1.4
label-10 0.982 | w37:-1.91 w3 w19 w2
label-0 1.75 | w30 w29 w10:0.198 w16
label-11 1.91 | w20 w35 w11 w20
label-10 1.27 | w14 w13 w2 w2
label-12 | w28 w15:-0.843 w24 w27:1.46
label-3 | w20 w8:0.757 w9 w33
label-13 | w7 w12 w28 w27
label-0 1.85 | w0 w29 w10 w16
label-14 | w2 w9 w32 w8
label-3 | w20 w1:1.56 w9:1.02 w33
label-15 | w13 w17:-1.44 w3 w29
label-13 | w7:-0.0385 w12:-0.167 w28 w29
label-16 1.06 | w35:-0.735 w1:-1.94 w39 w36
label-0 | w0 w29 w10 w5:1.49
label-17 | w29 w24 w36 w1
label-5 | w34:-0.713 w5:-0.338 w27:-0.0148 w20:-1.41
label-18 | w12 w19:-0.096 w27 w23
label-3 | w20 w1 w15 w33
label-19 | w29 w0 w39 w9
label-16 | w4:-1.1 w38 w39 w33
label-20 | w34 w33:-1.43 w11 w32
label-17 | w4 w24 w36 w1
label-21 | w17 w31 w5:-0.499 w17
label-4 | w11 w22 w36 w31:-0.205
label-22 | w15 w15 w30 w23
label-5 1.84 | w34 w1:0.558 w27 w5:1
label-23 | w22 w34 w21:-1.72 w34
label-11 1.78 | w7 w35 w11 w20
label-24 | w9 w33 w15 w1
label-6 | w32:-1.47 w24 w39 w36
label-25 | w12 w23:-0.282 w35 w33
label-1 1.66 | w12 w10 w12 w4
label-26 0.963 | w38:-0.453 w39:-0.372 w1:-0.985 w21:0.0653
label-20 | w34 w36 w11:-0.637 w32:1.82
label-27 | w33 w31 w30 w5
label-5 | w34:-0.72 w1 w27 w10
label-28 | w8 w30:-1.35 w11:-1.23 w10
label-16 | w35 w11 w39:1.27 w8
label-29 | w11:0.371 w35:-1.98 w17 w2:0.313
label-4 0.67 | w5 w22:0.147 w33 w31
label-30 | w26 w7 w31 w28:0.823
label-6 | w1 w24:1.94 w39:-1 w13:-0.301
label-31 | w38:1.75 w30 w34 w30
label-1 | w12 w12 w12 w4
label-32 0.767 | w14 w34 w14 w21:1.73
label-15 1.6 | w13 w39 w3 w0
label-33 1.9 | w15:-1.96 w9:-0.207 w5 w15
label-0 | w0 w29 w10:-0.545 w16:1.58
label-34 1.64 | w26 w14:-0.73 w25:0.0984 w34
label-8 | w19 w23 w20 w38
label-35 0.578 | w37 w7 w2 w24
label-13 0.733 | w7:-1.26 w12 w11 w1:0.286
label-36 0.669 | w8 w4 w5:0.556 w0:-0.865
label-0 0.838 | w0 w25 w10 w16
label-37 | w6 w17:-1.32 w11 w28:0.106
label-0 | w0 w9:0.38 w10 w16
label-38 | w10 w21 w9:-0.408 w21:-0.602
label-24 1.69 | w9 w21 w15 w1:-1.13
label-39 | w15 w7:-0.139 w26 w6
label-7 0.684 | w2:-0.503 w34 w26 w29
