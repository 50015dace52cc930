/** Runs as CSV and as code. */
import { RunRow } from '../../api/types';
import { csvOf } from '../../common/saveFile';
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

/** Return runs as CSV with a row of names. A value that is no number is `nan`. */
export function runsAsCsv(
  runs: readonly RunRow[],
  columns: readonly ITableColumn[]
): string {
  const names = columns
    .filter(({ kind }) => kind !== 'curve')
    .map(({ name, kind }) => name || kind);
  const rows = runs.map(run =>
    valuesOf(run, columns).map(([, value]) =>
      Number.isNaN(value) ? 'nan' : value
    )
  );
  return csvOf([['name', 'id', ...names], ...rows]);
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
