"""Resources that jobs use: samples on disk, the views of them for pages, and findings in words."""
