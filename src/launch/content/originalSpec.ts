/** The specification that a clone's changes are compared with. */
import { Fix, JobSpec, Prefill } from '../../api/types';
import { formOf, specOf } from './form';
import { specWith } from './specChanges';

/**
 * Return the spec of a cloned job as a form describes it, without the change that a fix made.
 *
 * @param was - The values before the fix, by JSON pointer.
 */
export function originalSpec(
  { spec: filled, script }: Prefill,
  was?: Fix['changes'] | null
): JobSpec {
  const spec = was ? specWith(filled, was) : filled;
  const options = spec.entrypoint.kind === 'command' ? [] : script.options;
  return specOf(formOf(spec, options), options);
}
