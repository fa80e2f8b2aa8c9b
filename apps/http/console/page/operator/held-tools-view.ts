// The tools of MCP servers that changed after their first use, each with the difference.

import { html } from '../../../../page/kit/html.ts'
import { card, cards } from '../../../../page/kit/parts.ts'
import { count } from '../../../../terminal/text/quantities.ts'
import type { HeldTool, HeldToolsData } from '../operator-state.ts'
import type { Change, Confirmations } from '../parts/confirmation.ts'

type Context = { confirmations: Confirmations; onChanged(): void }

export function heldToolsView({ tools, more }: HeldToolsData, context: Context) {
  if (tools.length === 0) return false
  return html`<section aria-labelledby="held-tools-title">
    <h2 id="held-tools-title">Changed tools of MCP servers</h2>
    <p class="faint">Their servers changed them after the first use. They are held: no model sees them, and their calls do not run.</p>
    ${cards(
      'Changed tools of MCP servers',
      tools.map((tool) => heldCard(tool, context)),
    )}
    ${more > 0 && html`<p class="faint">${count(more, 'more tool')}: weir mcp approve prints all.</p>`}
  </section>`
}

/** A difference that is not shown whole is accepted in the terminal only. */
function heldCard(tool: HeldTool, { confirmations, onChanged }: Context) {
  const { id, server, tool: name, lines, hasMore } = tool
  return card(
    { kind: 'held-tool', class: 'stopped', id: `${server}: ${name}`, head: false },
    html`<pre class="quote difference" tabindex="0" aria-label="Difference">${lines.join('\n')}</pre>
      <p class="buttons">
        ${
          hasMore
            ? html`<span class="warning">The difference is longer: read it with <code>weir mcp approve</code>.</span>`
            : html`<button type="button" onClick=${() => confirmations.open(acceptance(id, name, onChanged))}>Accept the new form…</button>`
        }
      </p>`,
  )
}

function acceptance(id: string, tool: string, onChanged: () => void): Change {
  return {
    title: `Accept the new form of ${tool}?`,
    text: 'The tool is offered again, with the description and the schema that its server gives now.',
    fields: [],
    label: 'Accept',
    command: () => `weir mcp approve ${id}`,
    path: 'held-tool',
    body: () => ({ id }),
    done: () => `The new form of ${tool} is pinned.`,
    onChanged,
  }
}
