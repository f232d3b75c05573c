# The look of all pictures. Colours that the colour-blind can distinguish (Okabe and Ito).
green = "#009E73"; red = "#D55E00"; blue = "#0072B2"; purple = "#CC79A7"; orange = "#E69F00"; grey = "#707070"
shade = "#E4E4E4"

set encoding utf8
set tics nomirror scale 0.6
set border 3 linecolor rgb grey
set grid linecolor rgb "#DDDDDD" linewidth 0.8 linetype 1
set key noautotitle
set style fill solid 1.0 noborder

# open_picture "png" or "svg", file, width and height in pixels: evaluated with `eval`
open_picture(format, file, width, height) = sprintf( \
  (format eq "png" ? "set terminal pngcairo size %d,%d font 'DejaVu Sans,10' noenhanced;" : \
                     "set terminal svg size %d,%d font 'DejaVu Sans,12' noenhanced background 'white';") . \
  " set output '%s'", width, height, file)
