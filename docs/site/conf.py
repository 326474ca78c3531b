"""The site of docs/. `tools/docs` copies the pages to build/docs-source and builds them with this file."""

project = "Cachet"
author = "The Cachet authors"
copyright = "The Cachet authors. Licence: Apache-2.0"

extensions = ["myst_parser", "sphinx_external_toc", "sphinx_copybutton"]
external_toc_path = "toc.yml"
external_toc_exclude_missing = False

# Pages are Markdown that GitHub shows, too: headings have GitHub's anchors, and <img> is an image.
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]

html_theme = "furo"
html_title = "Cachet"
html_static_path = ["static"]
html_css_files = ["cachet.css"]
html_show_sourcelink = False
html_copy_source = False
# No page loads anything from another machine: the site works from a folder without a network.
html_theme_options = {"navigation_with_keys": True}
copybutton_exclude = ".linenos, .gp, .go"
pygments_style = "tango"
pygments_dark_style = "github-dark"

# Blocks of commands and of output have no language on purpose.
highlight_language = "none"
nitpicky = False
