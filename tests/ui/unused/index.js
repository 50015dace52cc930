// Stands for packages of 470 MB that only Galata's benchmarks and the documents of JupyterLab's notebook call (package.json).
module.exports = {};
