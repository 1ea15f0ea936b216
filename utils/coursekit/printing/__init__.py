"""The built book as files: PDFs to print, an ePub for e-readers, and a zip of its pages."""
