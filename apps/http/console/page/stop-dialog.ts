// The confirmation before turns are stopped: those of one conversation, or all of an agent.

import { html } from './html.ts'

/** `agent`: null: it is not known. */
export type Stopping = { conversation: string; agent: string | null }

export type StopContext = {
  /** The result of the last request. Null: none yet. */
  note: string | null
  /** A stop that lasts until its release. */
  onLasting(scope: 'conversation' | 'agent', name: string): void
  onStop(what: { conversation: string } | { agent: string }): void
  onClose(): void
}

export function stopDialog(
  { conversation, agent }: Stopping,
  { note, onLasting, onStop, onClose }: StopContext,
) {
  const choice = (scope: 'conversation' | 'agent', name: string) => html`<div class="choice">
    <button type="button" class="reject" onClick=${() => onStop(scope === 'agent' ? { agent: name } : { conversation: name })}>
      ${scope === 'agent' ? 'Stop all open turns of this agent' : 'Stop this conversation'}
    </button>
    <button type="button" onClick=${() => onLasting(scope, name)}>Until a release…</button>
    <code>${name}</code>
  </div>`
  return html`<dialog
    class="help stop" aria-labelledby="stop-title" onClose=${onClose}
    ref=${(node: HTMLDialogElement | null) => {
      if (node !== null && !node.open) node.showModal()
    }}
  >
    <header><h2 id="stop-title">Stop open turns?</h2></header>
    <p>
      A stopped turn ends as cancelled. No new call of it starts, and its running tools are ended. A new
      message opens a turn again, unless the stop lasts.
    </p>
    ${choice('conversation', conversation)}
    ${agent !== null && choice('agent', agent)}
    ${note !== null && html`<p class="warning" role="status">${note}</p>`}
    <form method="dialog"><button class="quiet" autofocus>Close</button></form>
  </dialog>`
}
