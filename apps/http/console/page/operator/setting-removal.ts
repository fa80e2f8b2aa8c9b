// The removal of any setting of an operator, with its command.

import {
  removalCommand,
  type SettingKind,
  settingWords,
} from '../../../../../shared/settings/setting-words.ts'
import { html } from '../../../../page/kit/html.ts'
import type { Change, Confirmations } from '../parts/confirmation.ts'

/** The button of a setting's card. */
export function removalButton(
  kind: SettingKind,
  id: string,
  { confirmations, refresh }: { confirmations: Confirmations; refresh: () => void },
) {
  const open = () => confirmations.open(settingRemoval(kind, id, refresh))
  return html`<button type="button" onClick=${open}>${settingWords[kind].remove}…</button>`
}

function settingRemoval(kind: SettingKind, id: string, onChanged: () => void): Change {
  const { remove, removed, effect } = settingWords[kind]
  const text = effect(id)
  return {
    title: `${remove} ${id}?`,
    text: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    fields: [],
    label: remove,
    command: () => removalCommand(kind, id),
    path: 'remove',
    body: () => ({ setting: kind, id }),
    done: () => `${id} is ${removed}.`,
    onChanged,
  }
}
