/** Starting points of the launch form: presets, and the last submission of any file. */
import { expectApiError } from '../../api/errors';
import { Check, Preset } from '../../api/types';
import { formOf, ILaunchForm } from '../content/form';
import { IPresetContent, PresetGroup, presetOf } from '../content/presets';
import { composeArgs } from '../content/args/composeArgs';
import { parseArgs } from '../content/args/parseArgs';
import { LaunchEntrypoint } from './entrypoint';

/** Parts of the form that are taken from the last submission of another file. */
const LAST_GROUPS: ReadonlySet<PresetGroup> = new Set([
  'size',
  'image',
  'placement',
  'volumes',
  'environment',
  'lifecycle'
]);

/** Base class of the launch form's model: applies and saves presets. */
export abstract class LaunchStartingPoints extends LaunchEntrypoint {
  /** Change the form to the values of a preset. The state's `applied` has what did not fit, and the form before. */
  async applyPreset(name: string, content: IPresetContent): Promise<void> {
    if (this.isLocked || this.state.busy) {
      return;
    }
    const { form: before } = this;
    const { applied } = this.state;
    // Presets that follow each other without an edit are undone together.
    const own = (!applied?.isRead && applied?.before) || before;
    this._set({ filling: true, refusal: null });
    try {
      const { spec, notes } = await this.presets.client.apply({
        ...this._location,
        spec: this.spec,
        values: content.values
      });
      this._set({ filling: false });
      const { form, unknown } = this._withArgs(before, spec, content.args);
      this._edit(form);
      this._set({
        applied: {
          ...{ name, before: own, isRead: false },
          notes: [...notes, ...unknown]
        }
      });
      await this.preview.refresh();
    } catch (error) {
      this._set({ filling: false, refusal: expectApiError(error) });
    }
    this._settle();
  }

  /** Change the form to size, place and variables of the last submission of another file. */
  async applyLastSubmission(): Promise<void> {
    const { lastSubmission } = this.state;
    if (lastSubmission) {
      const content = presetOf(lastSubmission.spec, LAST_GROUPS, []);
      await this.applyPreset(lastSubmission.spec.name, content);
    }
  }

  /** Restore the form from before the preset, unless it was edited since. */
  undoPreset(): void {
    const before = this.state.applied?.before;
    if (before && !this.isFrozen) {
      this._set({ applied: null });
      this._edit(before);
      void this.preview.refresh();
    }
  }

  /** Keep the values of the preset, and close the notice. */
  keepPreset(): void {
    const { applied } = this.state;
    this._set({ applied: applied && { ...applied, isRead: true } });
  }

  protected override _edit(
    form: ILaunchForm,
    lastEdited: string | null = null
  ): void {
    const { applied } = this.state;
    if (applied?.before) {
      this._set({ applied: { ...applied, before: null } });
    }
    super._edit(form, lastEdited);
  }

  /**
   * Save the form's values as a preset of the user. Rejects with `ApiError`.
   *
   * @param replace - Overwrite the preset of this name.
   */
  async savePreset(
    name: string,
    groups: ReadonlySet<PresetGroup>,
    replace: boolean
  ): Promise<Preset> {
    const content = presetOf(this.spec, groups, this._argsOfPreset());
    const preset = await this.presets.client.save({
      ...{ name, ...content, replace }
    });
    await this.presets.load();
    return preset;
  }

  /** Return the script's options as arguments, without those whose value contains the job's name. */
  private _argsOfPreset(): string[] {
    const { form, scriptOptions } = this;
    const follows = this.state.prefill?.follow_name ?? [];
    const kept = scriptOptions.filter(
      ({ flags }) => !flags.some(flag => follows.includes(flag))
    );
    return composeArgs(kept, form.values, []).args;
  }

  /** Return the form with a spec and the options of a preset, and notes about options that the script does not have. */
  private _withArgs(
    before: ILaunchForm,
    spec: ILaunchForm['spec'],
    args: string[] | null
  ): { form: ILaunchForm; unknown: Check[] } {
    const { scriptOptions } = this;
    const form = {
      ...formOf(spec, scriptOptions),
      ...{ values: before.values, more: before.more },
      ...{ moreWords: before.moreWords, sweep: before.sweep }
    };
    if (!args?.length) {
      return { form, unknown: [] };
    }
    const { values, more } = parseArgs(args, scriptOptions);
    const message = this._options.trans.__(
      'Not an option of %1: %2.',
      this.name,
      more.join(' ')
    );
    return {
      form: { ...form, values: { ...form.values, ...values } },
      unknown: more.length ? [presetNote(message)] : []
    };
  }
}

/** Return the note about arguments of a preset that were not taken over. */
function presetNote(message: string): Check {
  return {
    ...{ level: 'warning', code: 'PresetValue', message },
    ...{ hint: null, field: '/spec/args', option: null, line: null },
    ...{ column: null, link: null, fix: null }
  };
}
