"""Every colour of the book's figures, each with one name.

Black and white, which need no number, are called by matplotlib's own names."""

# Diagrams
INK = "#24292F"  # words, and arrows that matter
LINE = "#57606A"
FAINT = "#8C959F"  # frames, and what stands back
PALE = "#BDBDBD"  # what is there, but not meant
PAPER, READS, WRITES = "#F6F8FA", "#E6F0FA", "#FBEBDD"  # fills: of any box, of an encoder's, of a decoder's
FETCHED = "#E0F2E9"  # fill of values, and of contexts, which are sums of them
BLUE = "#1F63AD"  # on white as legible as ink: a stream, a sum
RUST = "#A84800"  # a decoder's orange, as legible
AMBER = "#F6B765"  # a decoder's orange as a bar: how much of something is taken

# Curves and bars: Okabe and Ito's palette without its yellow, which vanishes on white; grey, brown and indigo fill
# it up
OKABE_BLUE, VERMILION, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
GREY, BROWN, INDIGO = "#767676", "#6B3E00", "#332288"

# What stands behind them, and beside
SAND = "#F1EBDD"  # the lengths seen in training, and other shaded ranges
PALE_GREY = "#D9D9D9"  # grids, and cells that a mask closes
DARK_GREY = "#595959"  # words beside a grey line
