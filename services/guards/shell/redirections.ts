// Redirections: the output and the input of a command.

import { forEachChild, type Redirection, type SyntaxNode } from 'unbash'
import { isPlain } from './field.ts'
import { nameOf } from './paths.ts'
import { checkSecret, checkWrite, type Input, type Place, rememberFetched, step } from './place.ts'
import { isNet } from './programs.ts'
import { Refusal } from './refusal.ts'
import { bodyOf, fieldsOf, textOf } from './words.ts'

/** Checks the targets of a command's output. Returns its input, if a redirection sets one. */
export function redirected(redirects: readonly Redirection[], fromNet: boolean, place: Place) {
  let input: Input | undefined
  for (const redirect of redirects) {
    const { target } = redirect.type === 'HereDoc' ? { target: undefined } : redirect
    if (redirect.type !== 'Redirect') {
      const text = target ? textOf(target, place.state) : ''
      input = {
        kind: 'text',
        text: redirect.type === 'HereDoc' ? bodyOf(redirect, place.state) : text,
      }
      continue
    }
    const fields = target ? fieldsOf([target], place.state) : []
    const [file] = fields
    if (file === undefined || fields.length !== 1)
      throw new Refusal(
        'unknowable',
        'the file of a redirection is only known when the command runs',
        'Write its name out, in quotes.',
      )
    checkSecret(file, place)
    if (redirect.operator === '<' || redirect.operator === '<&') {
      const { descriptor } = redirect
      if (descriptor?.type === 'FileDescriptor' && descriptor.value !== 0) continue
      if (/^\/dev\/(tcp|udp)\//.test(file)) input = { kind: 'net' }
      else if (redirect.operator === '<&') input = file === '-' ? input : { kind: 'pipe' }
      else input = isPlain(file) ? { kind: 'file', path: file } : { kind: 'pipe' }
    } else if (redirect.operator !== '>&' || !/^(\d+-?|-)$/.test(file)) {
      checkWrite(file, 'a redirection', place)
      if (fromNet) rememberFetched(file, place)
    }
  }
  return input
}

/** Whether a part of a script reads from the net. In doubt yes: each word is looked at. */
export function isFromNet(node: SyntaxNode, place: Place): boolean {
  if (place.input.kind === 'net') return true
  step(place)
  if (node.type === 'Word') {
    if (isNet(nameOf(node.value)) || /^\/dev\/(tcp|udp)\//.test(node.value)) return true
  }
  let found = false
  forEachChild(node, (child) => {
    found ||= isFromNet(child, place)
  })
  return found
}
