// Times and names of the console as texts.

import { html } from '../../../../page/kit/html.ts'

/** The address of a conversation in this page. */
export function conversationLink(conversation: string): string {
  return `#/conversation/${encodeURIComponent(conversation)}`
}

export function linkTo(conversation: string, kind?: string) {
  return html`<a class=${kind} href=${conversationLink(conversation)}>${conversation}</a>`
}

const kinds: Record<string, string> = {
  key: 'API key',
  certificate: 'certificate',
  'signed-in': 'signed in',
  subject: 'login',
}

/** The name of an author: `op (API key)` of `key:op`. Any other name stays. */
export function personName(name: string): string {
  const [, kind = '', rest = ''] = /^(key|certificate|signed-in|subject):(.+)$/s.exec(name) ?? []
  return rest === '' ? name : `${rest} (${kinds[kind] ?? kind})`
}
