/** Group “Sweep”: how the values of several fields become jobs, and how the jobs run. */
import { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { MAX_INT32 } from '../../api/constants';
import { OnFailure } from '../content/sweep';
import { LaunchModel } from '../model/launch';
import { Group, IFolding } from '../parts/groups/Group';
import { NumberField } from '../parts/NumberField';
import { Row, useFieldId } from '../parts/Row';
import { useLaunch, useModel } from '../parts/context';
import { RowsField, RuleFields } from './SweepFields';
import { Segments } from '../../ui/Segments';

/** Largest number of jobs that a field accepts; the server has a limit of its own. */
const MAX_JOBS = 10000;

/** Fields of a sweep; shown while an option has several values. */
export function SweepGroup({
  folding
}: {
  folding: IFolding;
}): React.JSX.Element {
  const { model, trans } = useLaunch();
  const sweep = useModel(now => now.sweep);
  const combinations = useModel(now => describeCombinations(now, trans));
  const failure = useFieldId('/sweep/on_failure');
  const method = useFieldId('/sweep/count');
  const seed = useFieldId('/sweep/seed');
  return (
    <Group
      name="sweep"
      title={trans.__('Sweep')}
      summary={now => describeSweep(now, trans)}
      folding={folding}
    >
      <RowsField />
      <Row
        field="/sweep/count"
        others={['/sweep/seed', '/sweep/fields', '/sweep/left_out']}
        caption={combinations}
        group
      >
        <Segments<'all' | 'random'>
          aria-labelledby={`${method}-label`}
          aria-describedby={`${method}-caption`}
          data-field="/sweep/fields"
          segments={[
            { value: 'all', label: trans.__('All') },
            { value: 'random', label: trans.__('Random') }
          ]}
          value={sweep.count === null ? 'all' : 'random'}
          onChange={value =>
            model.setSweep(
              { count: value === 'all' ? null : 6, leftOut: [] },
              '/sweep/count'
            )
          }
        />
        {sweep.count !== null && (
          <>
            <NumberField
              field="/sweep/count"
              aria-label={trans.__('Number of jobs')}
              value={sweep.count}
              min={1}
              max={MAX_JOBS}
              onChange={count =>
                model.setSweep({ count, leftOut: [] }, '/sweep/count')
              }
            />
            <label htmlFor={seed}>{trans.__('Seed')}</label>
            <NumberField
              field="/sweep/seed"
              value={sweep.seed}
              min={0}
              max={MAX_INT32}
              onChange={value =>
                model.setSweep({ seed: value, leftOut: [] }, '/sweep/seed')
              }
            />
          </>
        )}
      </Row>
      <Row
        field="/sweep/at_a_time"
        caption={trans.__(
          'Number of jobs that are pending or running together'
        )}
      >
        <NumberField
          field="/sweep/at_a_time"
          value={sweep.atATime}
          min={1}
          max={MAX_JOBS}
          onChange={atATime => model.setSweep({ atATime }, '/sweep/at_a_time')}
        />
      </Row>
      <Row field="/sweep/on_failure" group>
        <Segments<OnFailure>
          aria-labelledby={`${failure}-label`}
          data-field="/sweep/on_failure"
          segments={[
            { value: 'continue', label: trans.__('Continue') },
            { value: 'start_no_more', label: trans.__('Start no more') },
            { value: 'stop_others', label: trans.__('Stop the others') }
          ]}
          value={sweep.onFailure}
          onChange={onFailure =>
            model.setSweep({ onFailure }, '/sweep/on_failure')
          }
        />
      </Row>
      <RuleFields />
    </Group>
  );
}

/** Return the summary of the folded group: the number of jobs, and how many run together. */
function describeSweep(
  { sweepJobs }: LaunchModel,
  trans: TranslationBundle
): string {
  return sweepJobs.shown?.summary ?? trans.__('Reading the jobs…');
}

/** Return the number of combinations: “3 × 2 = 6 jobs, at most 24”. */
function describeCombinations(
  { sweepJobs, sweep }: LaunchModel,
  trans: TranslationBundle
): string {
  const { shown } = sweepJobs;
  if (shown === null) {
    return '';
  }
  const { total, limit, fields } = shown;
  if (total === null || sweep.count !== null) {
    return trans._n(
      'At most %1 job is allowed.',
      'At most %1 jobs are allowed.',
      limit
    );
  }
  const factors = fields
    .map(field => sweepJobs.valueCount(field))
    .filter(count => count > 1);
  return factors.length > 1 && !sweep.rowsPath
    ? trans.__(
        '%1 = %2 jobs; at most %3 are allowed.',
        factors.join(' × '),
        total,
        limit
      )
    : trans.__('%1 jobs; at most %2 are allowed.', total, limit);
}
