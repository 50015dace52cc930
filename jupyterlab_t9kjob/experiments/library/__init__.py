"""The known runs of experiments: found below a folder, indexed, watched while somebody asks for them."""
