// The differences between the arguments of two calls, as a list of changed members.

import { type Child, html } from './html.ts'
import type { MemberDiff } from './member-diff.ts'

const signs = { added: '+', removed: '−', changed: '~' } as const

export function diffList(members: MemberDiff[]): Child {
  return html`<ul class="diff">
    ${members.map(
      (member) => html`<li class=${member.kind}>
        <span class="sign" title=${member.kind}>${signs[member.kind]}</span>
        ${member.path !== '' && html`<code class="path">${member.path}</code>`}
        <span class="pieces">${piecesOf(member).map(pieceView)}</span>
      </li>`,
    )}
  </ul>`
}

type Piece = { kind: 'same' | 'added' | 'removed'; text: string }

function piecesOf(member: MemberDiff): Piece[] {
  if (member.kind === 'changed') return member.pieces
  return [{ kind: member.kind, text: member.text === '' ? '""' : member.text }]
}

function pieceView({ kind, text }: Piece): Child {
  if (kind === 'same') return shortened(text)
  return kind === 'added' ? html`<ins>${text}</ins>` : html`<del>${text}</del>`
}

const sameCharactersMax = 120

/** An unchanged part needs only the ends next to the changes. */
function shortened(text: string): string {
  return text.length <= sameCharactersMax
    ? text
    : `${text.slice(0, sameCharactersMax / 2)} … ${text.slice(-sameCharactersMax / 2)}`
}
