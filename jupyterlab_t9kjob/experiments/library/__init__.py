"""The known runs of experiments: found below a folder, indexed, watched while a page shows them."""
