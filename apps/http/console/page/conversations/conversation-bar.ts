// The actions on an open conversation: its link, its files, a replay with another rule, its tree, and a stop.

import { shellWord } from '../../../../../shared/lib/text/shell-word.ts'
import { type Child, html } from '../../../../page/kit/html.ts'
import { readingPage, status } from '../../../../page/kit/parts.ts'
import type { ReportData } from '../../../../report/page/data.ts'
import { count } from '../../../../terminal/text/quantities.ts'
import type { TreeData } from '../console-state.ts'
import type { Stopping } from '../now/stop-dialog.ts'
import { thresholdsIn, valueChange } from '../operator/policies-view.ts'
import { whatIfPanel } from '../operator/what-if-panel.ts'
import type { PoliciesData } from '../operator-state.ts'
import type { Change, Confirmations } from '../parts/confirmation.ts'
import { polled } from '../parts/poll.ts'
import { download } from '../parts/server.ts'
import { stopTreeButton, treeLink, treeMs, treePath } from './tree-page.ts'

export type ConversationBar = {
  open(conversation: string): void
  leave(): void
  /** `data` undefined: the conversation is not read yet. */
  view(conversation: string, data: ReportData | undefined): Child
}

export function conversationBar(
  onChange: () => void,
  confirmations: Confirmations,
  { onStop, onTitled }: { onStop(stopped: Omit<Stopping, 'conversation'>): void; onTitled(): void },
): ConversationBar {
  const policies = polled<PoliciesData>(onChange, null)
  const whatIf = whatIfPanel(onChange)
  const tree = polled<TreeData>(onChange, treeMs)
  let note: string | null = null
  let isReplaying = false

  function say(text: string): void {
    note = text
    onChange()
  }

  function save(path: string, conversation: string, ending: string): void {
    say('Reading the records.')
    const name = `${conversation.replace(/[^\w.-]+/g, '_').slice(0, 80)}.${ending}`
    download(`${path}?${new URLSearchParams({ id: conversation })}`, name).then(
      () => say(`${name} is downloaded.`),
      (error: unknown) => say(error instanceof Error ? error.message : String(error)),
    )
  }

  function copyLink(): void {
    const text = location.href
    // Without TLS, a browser offers the clipboard to this machine only.
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject()
    copied.then(
      () => say('The link is copied.'),
      () => say(`Copy this link: ${text}`),
    )
  }

  function toggleReplay(conversation: string, agent: string): void {
    isReplaying = !isReplaying
    if (isReplaying) {
      policies.open(`policies?${new URLSearchParams({ agent })}`)
      whatIf.judge({ agent, conversation })
    }
    onChange()
  }

  function replayView(conversation: string, agent: string): Child {
    const onChanged = () => whatIf.judge({ agent, conversation })
    return html`<section class="replay" aria-labelledby="replay-title">
      <h2 id="replay-title">What if a threshold were another?</h2>
      ${whatIf.view(thresholdsIn(policies.data), (key, value) =>
        confirmations.open(
          valueChange(agent, key, { value, context: { confirmations, onAgent() {}, onChanged } }),
        ),
      )}
      <p class="faint">
        For a guard, or for several changes: <code>weir replay --conversation ${shellWord(conversation)} --set KEY=VALUE</code>
      </p>
    </section>`
  }

  return {
    open: (conversation) => tree.open(treePath(conversation)),
    leave() {
      tree.leave()
      note = null
      isReplaying = false
      policies.leave()
      whatIf.leave()
    },
    view(conversation, data) {
      if (data === undefined) return readingPage(conversation, 'Reading the conversation.')
      const { state, turns } = data.timeline
      const agent = turns.at(-1)?.agent ?? null
      const root = tree.data !== undefined && tree.data.lines.length > 1 ? tree.data.root : null
      return html`<div class="conversation-bar" role="region" aria-label="Actions on this conversation">
          <button type="button" onClick=${copyLink}>Copy link</button>
          <button type="button" onClick=${() => confirmations.open(titleChange(conversation, data.timeline.title, onTitled))}>Rename…</button>
          <button type="button" onClick=${() => save('report', conversation, 'html')}>Download report</button>
          <button type="button" onClick=${() => save('export', conversation, 'weir')}>Export</button>
          ${
            agent !== null &&
            html`<button type="button" aria-expanded=${isReplaying ? 'true' : 'false'} onClick=${() => toggleReplay(conversation, agent)}>
              Replay with another rule…
            </button>`
          }
          ${root !== null && html`<a href=${treeLink(conversation)}>Tree of ${count(tree.data?.lines.length ?? 0, 'conversation')}</a> ${stopTreeButton(root, confirmations)}`}
          ${state === 'open' && html`<button type="button" class="danger" onClick=${() => onStop({ agent, tree: root })}>Stop…</button>`}
          ${status(note, 'note')} ${status(confirmations.note, 'good')}
        </div>
        ${isReplaying && agent !== null && replayView(conversation, agent)}`
    },
  }
}

function titleChange(conversation: string, title: string | null, onChanged: () => void): Change {
  return {
    title: 'Rename this conversation?',
    text: 'Lists and the search have the title. Without a title, lists show the first words of the first message.',
    fields: [
      {
        name: 'title',
        label: 'Title',
        value: title ?? '',
        values: null,
        kind: 'text',
        isOptional: true,
      },
    ],
    label: 'Rename',
    command: (values) => `weir title ${shellWord(conversation)} ${shellWord(values.title ?? '')}`,
    path: 'title',
    body: (values) => ({ conversation, title: values.title ?? '' }),
    done: (_, answer) =>
      (answer as { isTaken: boolean }).isTaken
        ? 'The title is changed.'
        : 'The title is written. Lists show it once the stages run.',
    onChanged,
  }
}
