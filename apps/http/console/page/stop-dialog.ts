// The confirmation before turns are stopped: those of one conversation, or all of an agent.

import { html } from './html.ts'

export type Stopping = { conversation: string; agent: string }

export type StopContext = {
  /** The result of the last request. Null: none yet. */
  note: string | null
  onStop(what: { conversation: string } | { agent: string }): void
  onClose(): void
}

export function stopDialog(
  { conversation, agent }: Stopping,
  { note, onStop, onClose }: StopContext,
) {
  return html`<dialog
    class="help stop" aria-labelledby="stop-title" onClose=${onClose}
    ref=${(node: HTMLDialogElement | null) => {
      if (node !== null && !node.open) node.showModal()
    }}
  >
    <header><h2 id="stop-title">Stop open turns?</h2></header>
    <p>
      A stopped turn ends as cancelled. No new call of it starts, and its running tools are ended.
    </p>
    <div class="choice">
      <button type="button" class="reject" onClick=${() => onStop({ conversation })}>
        Stop this conversation
      </button>
      <code>${conversation}</code>
    </div>
    <div class="choice">
      <button type="button" class="reject" onClick=${() => onStop({ agent })}>
        Stop all open turns of this agent
      </button>
      <code>${agent}</code>
    </div>
    ${note !== null && html`<p class="warning" role="status">${note}</p>`}
    <form method="dialog"><button class="quiet" autofocus>Close</button></form>
  </dialog>`
}
