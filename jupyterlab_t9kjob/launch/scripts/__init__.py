"""Analysis of scripts by their text: options, imports, use of processes. Scripts are never run or imported."""
