// Texts that Bash reads a second time. Arithmetic and names of variables may have a subscript, and
// Bash runs a command in it even if quotes protected it at first. Also variables whose text Bash
// runs later.

import type { SyntaxNode, Word } from 'unbash'
import { isPlain } from './field.ts'
import { Refusal, shown } from './refusal.ts'
import { type Scope, textOf } from './words.ts'

const command = /\$\(|`|\$\{[\s|]/
const subscript = /\[[^\]]*(\$\(|`|\$\{[\s|])/

/** `what`: the construct or command that reads the text. */
export function checkReadAgain(text: string, what: string): void {
  if (command.test(text)) throw readAgain(text, what)
}

/** A variable's text is arithmetic wherever the variable is. */
export function checkValue(name: string, text: string): void {
  if (subscript.test(text)) throw readAgain(text, `arithmetic with ${shown(name)}`)
  const isRun =
    name === 'BASH_ENV' || name === 'PROMPT_COMMAND'
      ? text !== ''
      : /^PS[0-4]$/.test(name) && !isPrompt(name, text)
  if (isRun)
    throw new Refusal(
      'unseen-script',
      `Bash itself runs what ${name} holds or names`,
      'Do not set it; write the commands where they shall run.',
    )
}

/** A non-interactive shell shows only PS4. Unknown parts of the other prompts do no harm. */
function isPrompt(name: string, text: string): boolean {
  return !command.test(text) && (name !== 'PS4' || isPlain(text))
}

const ofNames = new Set(['-v', '-R'])
const ofNumbers = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/** The parts of words and of `[[ … ]]` that are read again. */
export function checkPart(node: SyntaxNode, scope: Scope): void {
  switch (node.type) {
    case 'ArithmeticWord':
      return checkReadAgain(
        textOf({ ...node, type: 'Word', text: node.value } as Word, scope),
        'arithmetic',
      )
    case 'Assignment':
      if (node.index !== undefined)
        checkReadAgain(textOf(node.index, scope), `a subscript of ${shown(node.name)}`)
      return
    case 'TestUnary':
      if (ofNames.has(node.operator)) checkReadAgain(textOf(node.operand, scope), node.operator)
      return
    case 'TestBinary':
      if (ofNumbers.has(node.operator))
        for (const word of [node.left, node.right])
          checkReadAgain(textOf(word, scope), node.operator)
      return
    case 'ParameterExpansion':
      if (node.index !== undefined)
        checkReadAgain(textOf(node.index, scope), `a subscript of ${shown(node.parameter)}`)
      if (node.operation?.type === 'Transform' && node.operation.operand.value === 'P')
        throw readAgain(node.text, 'the prompt')
      return
  }
}

/** The words of a builtin command. */
export function checkWords(name: string, args: readonly string[]): void {
  switch (name) {
    case 'test':
    case '[':
      for (const [i, arg] of args.entries())
        if (ofNames.has(args[i - 1] ?? '')) checkReadAgain(arg, name)
      return
    case 'printf':
      if (args[0]?.startsWith('-v'))
        checkReadAgain(args[0] === '-v' ? (args[1] ?? '') : args[0], name)
      return
    case 'declare':
    case 'typeset':
    case 'local':
    case 'export':
    case 'readonly':
      for (const arg of args)
        checkReadAgain(arg.replace(/^([A-Za-z_][A-Za-z0-9_]*)\+?=.*$/s, '$1'), name)
      return
    case 'read':
    case 'readarray':
    case 'mapfile':
    case 'getopts':
    case 'unset':
    case 'wait':
    case 'compgen':
    case 'let':
      for (const arg of args) checkReadAgain(arg, name)
  }
}

function readAgain(text: string, what: string): Refusal {
  return new Refusal(
    'unseen-script',
    `${what} reads "${shown(text)}" a second time and would run the command in it`,
    'Run the command where it stands, assign what it prints to a variable, and use a plain name or number here.',
  )
}
