label-0 | w0 w29 w8:-0.449 w16
label-0 0.796 | w0 w13 w10 w16
label-1 1.01 | w12 w12 w38:1.47 w4
label-0 | w0 w29 w10:-0.993 w15
label-2 | w0 w23:-1.51 w17 w37:-1.66
label-2 | w0 w23 w5:1.55 w37
label-3 1.19 | w20:1.33 w1 w9:1.82 w33
label-0 0.888 | w0 w29:-1.94 w10 w16
label-4 | w7 w22:-0.815 w33 w31
label-1 0.662 | w12 w12 w12:0.564 w4:0.45
label-5 | w34 w1 w27 w5
label-0 1.19 | w6 w29:0.416 w10 w9
label-6 1.05 | w32 w24 w27 w36
label-0 0.529 | w0 w29:-0.177 w10 w16
label-7 | w31:-0.303 w34:-0.761 w26:-1.68 w29:1.11
label-2 | w0 w23:1.97 w17 w37:-0.928
label-8 | w13 w23 w20 w38
label-8 | w5:0.186 w23 w20 w38
label-9 | w18 w6:0.497 w14 w35:1.67
label-2 1.14 | w0 w23 w17 w37:-0.199
label-10 | w14 w13:0.0614 w2 w2
label-6 1.71 | w32 w24 w26 w36
label-11 | w7 w35 w33 w20
label-10 | w37 w3:-1.04 w2:-0.38 w6
label-12 1.96 | w28 w35:0.00761 w24 w1:-0.325
label-0 | w0:-1.3 w16:1.58 w10 w16:-1.21
label-13 1.24 | w7 w12 w28 w27
label-4 0.561 | w5:-1.18 w22 w33:-0.901 w31:-0.962
label-14 | w2 w9 w0:1.32 w6:-0.122
label-3 1.14 | w20 w1 w9:-0.194 w26
label-15 | w13 w39 w3 w29:0.958
label-10 | w37 w12 w2 w2
label-16 1.86 | w35 w11 w8:-0.092 w36:-1.18
label-10 1.34 | w37 w13 w2:1.91 w2
label-17 | w29 w24 w36 w22
label-0 | w26 w29:2 w5 w16:1.88
label-18 1.05 | w12 w36:-0.198 w27:-1.69 w21:-1.75
label-4 | w5:1.52 w22 w33 w31:-0.165
label-19 1.26 | w16:0.567 w0 w39 w9
label-4 0.585 | w5 w22 w33 w31
label-20 | w34 w36 w3 w32
label-19 | w29 w0:-0.387 w39:1.62 w9:-1.67
label-21 | w17 w18 w5 w17
label-0 | w0 w29 w10 w16
label-22 | w15 w15 w30 w36
label-2 | w0 w29 w17 w23
label-23 | w33:0.267 w34 w21 w6:-1.05
label-2 | w8:0.125 w23 w17 w37
label-24 | w9 w33 w15:-0.776 w1
label-22 | w15 w12 w30 w23
label-25 1.76 | w12:-0.18 w23 w35 w33
label-9 | w18:-0.396 w16 w36:0.217 w35:-0.41
label-26 0.813 | w38 w16 w1 w21
label-2 1.28 | w0 w20 w17 w26
label-27 | w33 w18 w30:0.927 w39
label-11 | w7 w0 w11 w20
label-28 | w8:-0.136 w30 w11 w10
label-8 | w13 w2 w20 w38
label-29 | w16 w5:1.88 w5 w2:-0.424
label-0 1.52 | w0 w29 w10 w16
label-30 | w26:1.15 w7:0.28 w39 w15
label-2 | w18:-0.514 w23 w17:1.93 w37:-0.947
label-31 0.518 | w38 w30:0.0367 w34:1.71 w37
label-1 1.21 | w12 w12 w12 w4
label-32 | w14 w13 w14 w21
label-30 | w26 w7 w39 w28:-0.543
label-33 | w15:-1.52 w9 w5:1.34 w21
label-15 | w13 w38:1.72 w7 w29
label-34 0.652 | w26 w11:1.41 w39 w34
label-11 0.574 | w7 w0:-0.798 w11 w20
label-35 | w37 w7 w2:-1.74 w35
label-0 | w34 w29:0.046 w10 w16:1.58
label-36 1.22 | w8 w4:-1.73 w5 w0
label-0 0.509 | w34 w14 w10 w34
label-37 1.25 | w6:-1.7 w31 w11 w16
label-0 1.69 | w27 w29 w11 w29:-1.73
label-38 | w19:-0.862 w21:0.358 w9 w21
label-30 | w26 w7 w39 w10
label-39 | w15 w7 w35 w6
label-29 | w16 w30 w2 w12
