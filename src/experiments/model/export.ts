/** Runs as CSV and as code. */
import { RunRow } from '../../api/types';
import { CellValue, ITableColumn } from './columns';

/** Return the values of a run for the shown columns, by the names of the columns. */
function valuesOf(
  run: RunRow,
  columns: readonly ITableColumn[]
): [string, CellValue][] {
  return [
    ['name', run.name],
    ['id', run.id],
    ...columns
      .filter(({ kind }) => kind !== 'curve')
      .map((column): [string, CellValue] => [
        column.name || column.kind,
        column.value(run)
      ])
  ];
}

/** Return runs as CSV with a line of names. Texts that a spreadsheet would run as a formula begin with a quote. */
export function runsAsCsv(
  runs: readonly RunRow[],
  columns: readonly ITableColumn[]
): string {
  const lines = runs.map(run =>
    valuesOf(run, columns).map(([, value]) => csvCell(value))
  );
  const names = ['name', 'id'].concat(
    columns
      .filter(({ kind }) => kind !== 'curve')
      .map(({ name, kind }) => name || kind)
  );
  return [names.map(csvCell), ...lines]
    .map(cells => `${cells.join(',')}\r\n`)
    .join('');
}

function csvCell(value: CellValue): string {
  if (value === null) {
    return '';
  }
  if (typeof value === 'number') {
    return Number.isNaN(value) ? 'nan' : String(value);
  }
  const text = /^[=+\-@\t\r]/.test(String(value)) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** Return Python code that makes a pandas table of the runs. */
export function runsAsPandas(
  runs: readonly RunRow[],
  columns: readonly ITableColumn[]
): string {
  const rows = runs.map(run => {
    const pairs = valuesOf(run, columns).map(
      ([name, value]) => `${pythonText(name)}: ${pythonValue(value)}`
    );
    return `        {${pairs.join(', ')}},\n`;
  });
  return `import pandas as pd\n\nruns = pd.DataFrame(\n    [\n${rows.join('')}    ]\n)\n`;
}

function pythonValue(value: CellValue): string {
  if (value === null) {
    return 'None';
  }
  if (typeof value === 'boolean') {
    return value ? 'True' : 'False';
  }
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? String(value)
      : `float("${String(value).toLowerCase()}")`;
  }
  return pythonText(value);
}

/** Return a Python string literal. JSON's escapes are valid in Python, except for halves of surrogate pairs. */
function pythonText(text: string): string {
  return JSON.stringify(text);
}
