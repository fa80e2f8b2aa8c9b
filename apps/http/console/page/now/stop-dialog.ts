// The confirmation before turns are stopped: those of one conversation, of its tree, or all of an agent.

import { html } from '../../../../page/kit/html.ts'
import { closeButton, dialog, status } from '../../../../page/kit/parts.ts'

/** `agent` null: it is not known. `tree`: its root; null: no other agent is known in it. */
export type Stopping = { conversation: string; agent: string | null; tree: string | null }

export type StopContext = {
  /** The result of the last request. Null: none yet. */
  note: string | null
  /** A stop that lasts until its release. */
  onLasting(scope: 'conversation' | 'agent' | 'tree', name: string): void
  onStop(what: { conversation: string } | { agent: string }): void
  onClose(): void
}

export function stopDialog(
  { conversation, agent, tree }: Stopping,
  { note, onLasting, onStop, onClose }: StopContext,
) {
  const choice = (scope: 'conversation' | 'agent', name: string) => {
    const isAgent = scope === 'agent'
    const stop = () => onStop(isAgent ? { agent: name } : { conversation: name })
    return html`<section class="choice">
      <h3>${isAgent ? 'All conversations of the agent' : 'This conversation'} <code>${name}</code></h3>
      <p class="offer">
        <button type="button" class="danger" onClick=${stop}>
          ${isAgent ? 'End all open turns' : 'End its open turns'}
        </button>
        <span class="faint">Once. A new message opens a turn again.</span>
      </p>
      ${lasting(scope, name)}
    </section>`
  }
  const lasting = (scope: 'conversation' | 'agent' | 'tree', name: string) =>
    html`<p class="offer">
      <button type="button" onClick=${() => onLasting(scope, name)}>Stop the ${scope} until a release…</button>
      <span class="faint">New messages get no answer until then. Asks for a reason.</span>
    </p>`
  return dialog(
    { kind: 'stop', title: 'What do you want to stop?', onClose },
    html`<p>
        A turn that you end is cancelled. No new call of it starts, and its running tools are ended.
      </p>
      ${choice('conversation', conversation)}
      ${
        tree !== null &&
        html`<section class="choice">
          <h3>The tree of agents <code>${tree}</code></h3>
          ${lasting('tree', tree)}
        </section>`
      }
      ${agent !== null && choice('agent', agent)}
      ${status(note)}
      <form method="dialog">${closeButton(true)}</form>`,
  )
}
