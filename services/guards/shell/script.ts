// Walks a script in its order of execution, with the known facts at each place, and passes its
// commands to command.ts.
// Owns: lists, branches, loops, pipes, redirections, assignments, substitutions.
// Does not own: the effect of a single command (command.ts), the value of a word (words.ts).
//
// Every command of the script is judged, even in a branch that may not run, in a
// substitution, in a here-document, or in an index.
// A variable is known only after one plain assignment that surely ran. A loop is
// walked twice: the second time with all that it may change.
// A construct that this file does not name is refused, and so is a script with a
// parser error: the tree is then a guess.

import {
  type Assignment,
  type Command,
  forEachChild,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { judgeCommand } from './command.ts'
import { Denial, notPlain, shown } from './denial.ts'
import { anyName, anything, isPlain, isUnknown, list, nameOf } from './field.ts'
import {
  apart,
  assign,
  checkSecret,
  checkWrite,
  forgetVariables,
  type Input,
  type Place,
  rulesFile,
  step,
  together,
} from './place.ts'
import { checkExported, checkReadTwice, checkSetting } from './variables.ts'
import { bodyOf, fieldsOf, textOf } from './words.ts'

/** Judges a script's text. Throws a Denial. */
export function walkText(text: string, place: Place): void {
  walk(parse(text), place)
}

/** Nodes that only hold others. */
const holders = list(`CompoundList BraceGroup Elif CaseItem Negation Time Word Literal Glob
  SingleQuoted DoubleQuoted AnsiCQuoted LocaleString SimpleExpansion ExtendedGlob BraceExpansion
  ArrayValue Assignment Redirect HereString HereDoc HereDocDelimiter HereDocBody FileDescriptor
  FileDescriptorVariable CommandExpansion ArithmeticExpansion ArithmeticBinary ArithmeticUnary
  ArithmeticTernary ArithmeticGroup ArithmeticWord ArithmeticCommandExpansion ParameterExpansion
  TestCommand TestUnary TestBinary TestLogical TestNot TestGroup Default Remove Replace Slice
  CaseModification Names`)

function walk(node: SyntaxNode, place: Place): void {
  step(place)
  const children = (inner: Place) => forEachChild(node, (child) => walk(child, inner))
  switch (node.type) {
    case 'Script':
      if (node.errors?.[0] === undefined) return children(place)
      throw new Denial(
        'unreadable',
        `it is not a Bash command that can be read: ${shown(node.errors[0].message)}`,
        'Correct it, or write it more simply.',
      )
    case 'Statement':
      return children(node.background ? apart(place) : place)
    case 'AndOr':
      return walkAndOr(node, place)
    case 'Pipeline':
      return walkPipeline(node, place)
    case 'Command':
      return walkCommand(node, place)
    case 'Redirected':
      for (const redirect of node.redirects) walk(redirect, place)
      walk(node.command, { ...place, input: redirected(node.redirects, place) })
      return noteRules(node.redirects, place)
    case 'Subshell':
      return children(apart(place))
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      if (node.script === undefined) throw notPlain('a substitution cannot be read')
      return children({ ...apart(place), isRead: true, input: { kind: 'pipe' } })
    case 'If':
    case 'Case':
      return children({ ...place, isCertain: false })
    case 'While':
    case 'ArithmeticFor':
      return walkLoop(node, place)
    case 'For':
    case 'Select':
      return walkFor(node, place)
    case 'Function':
      throw notPlain('it defines a function', 'Write the commands of the function where they run.')
    case 'Coproc':
      throw notPlain('it starts a coprocess', 'Run the command in the background with & instead.')
    case 'ArithmeticCommand':
      forgetVariables(place)
      return children(place)
    default:
      if (!holders.includes(node.type))
        throw notPlain(`it has a part that this guard does not know (${node.type})`)
      checkPart(node, place)
      return children(place)
  }
}

/** After `cd … &&` the folder is known. */
function walkAndOr({ commands, operators }: SyntaxNode & { type: 'AndOr' }, place: Place): void {
  const { facts } = place
  let all = facts.folders
  for (const [i, command] of commands.entries()) {
    if (operators[i - 1] === '||') facts.folders = all
    const before = facts.folders
    walk(command, i === 0 ? place : { ...place, isCertain: false })
    all = together(all, facts.folders)
    const isMove = command.type === 'Command' && command.name?.text === 'cd'
    if (isMove && operators[i] === '&&') facts.folders = place.whole.moved
    all = together(all, together(before, facts.folders))
  }
  facts.folders = all
}

function walkPipeline({ commands }: SyntaxNode & { type: 'Pipeline' }, place: Place): void {
  const last = commands.length - 1
  for (const [i, command] of commands.entries()) {
    const input: Input = i === 0 ? place.input : { kind: 'pipe' }
    // The last command of a pipe runs in the shell itself in some shells.
    const inner = i < last ? apart(place) : { ...place, isCertain: place.isCertain && last === 0 }
    walk(command, { ...inner, input, isRead: place.isRead || i < last })
  }
}

function walkLoop(node: SyntaxNode, place: Place): void {
  const { facts } = place
  if (node.type === 'ArithmeticFor') forgetVariables(place)
  const before = String(facts.folders)
  const lap = () => forEachChild(node, (child) => walk(child, { ...place, isCertain: false }))
  lap()
  if (String(facts.folders) !== before) facts.folders = undefined
  lap()
}

/** A relative path without `..`, and with a plain beginning. */
const nameBelow = /^(?!.*\.\.)[\w@\uE001][\w@+=:,./ \uE001-]*$/

/** The variable is any name, if all words are names below the folder of the shell. */
function walkFor(node: SyntaxNode & { type: 'For' | 'Select' }, place: Place): void {
  const name = node.name.value
  const words = node.wordlist === undefined ? [anything] : fieldsOf(node.wordlist, place.facts)
  for (const word of words) {
    checkSecret(word, place)
    checkSetting(name, word)
  }
  assign(place, name, words.every((word) => nameBelow.test(word)) ? anyName : undefined)
  walkLoop(node, place)
}

// ── Commands ──

function walkCommand(node: Command, place: Place): void {
  forEachChild(node, (part) => walk(part, place))
  const prefixes = node.prefix.filter((part) => part.type === 'Assignment')
  const declarations = node.args.filter((part) => part.type === 'Assignment')
  const words = node.args.filter((part) => part.type === 'Word')
  const fields = fieldsOf(node.name ? [node.name, ...words] : [], place.facts)
  const input = redirected(node.redirects, place)
  const [name] = fields
  if (name === 'exec' && (fields.length > 1 || input !== place.input))
    throw notPlain('exec changes the rest of the script', 'Run the command without exec.')
  const isDeclarer = /^(export|declare|typeset|local|readonly)$/.test(name ?? '')
  for (const one of prefixes) assigned(one, place, name)
  for (const one of declarations) assigned(one, place, isDeclarer ? undefined : name, name)
  judgeCommand([...fields, ...declarations.map((one) => one.name)], { ...place, input })
  const text = input.kind === 'text' ? [input.text] : fields
  const isPrinted = input.kind === 'text' || /^(echo|printf)$/.test(name ?? '')
  if (!isPrinted || text.some(isUnknown)) noteRules(node.redirects, place)
}

/** `command`: the setting holds for this command only. */
function assigned(
  { name, value, append, index }: Assignment,
  place: Place,
  command: string | undefined,
  declarer = command,
): void {
  const { facts } = place
  const isList = value.type === 'ArrayValue'
  const texts = isList ? fieldsOf(value.elements, facts) : [textOf(value, facts)]
  for (const text of texts) {
    checkSecret(text, place)
    const source = isList ? '' : (value as Word).text
    checkSetting(name, append ? anything + text : text, source, nameOf(command ?? ''))
    if (command !== undefined || declarer === 'export') checkExported(name, text, place)
  }
  const isKnown =
    command === undefined && !isList && index === undefined && !append && !/~/.test(texts[0] ?? '')
  assign(place, name, isKnown ? texts[0] : undefined)
}

/** After the command, which may have used the net. */
function noteRules(redirects: readonly Redirection[], { facts, whole }: Place): void {
  for (const redirect of redirects) {
    if (!whole.net || redirect.type !== 'Redirect' || redirect.target === undefined) continue
    if (!redirect.operator.includes('>')) continue
    const [file = ''] = fieldsOf([redirect.target], facts)
    whole.hasFetchedRules ||= rulesFile.test(file)
  }
}

/** Checks the targets of a command's output. Returns its input. */
function redirected(redirects: readonly Redirection[], place: Place): Input {
  let { input } = place
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') input = { kind: 'text', text: bodyOf(redirect, place.facts) }
    const { target } = redirect.type === 'HereDoc' ? {} : redirect
    if (target === undefined) continue
    if (redirect.type === 'HereString') input = { kind: 'text', text: textOf(target, place.facts) }
    if (redirect.type !== 'Redirect') continue
    const { operator, descriptor } = redirect
    const [file = anything, ...more] = fieldsOf([target], place.facts)
    checkSecret(file, place)
    if (operator === '<' || operator === '<&') {
      if (descriptor?.type === 'FileDescriptor' && descriptor.value !== 0) continue
      if (/^\/+dev\/+([\uE000\uE001]|tcp|udp)/.test(file))
        throw new Denial(
          'net-into-shell',
          `"${shown(file)}" is a connection`,
          'Use curl, and read it.',
        )
      const isFile = operator === '<' && isPlain(file)
      input = isFile ? { kind: 'file', path: file } : { kind: 'pipe' }
    } else if (operator !== '>&' || !/^(\d+-?|-)$/.test(file)) {
      checkWrite(more.length > 0 ? anything : file, 'a redirection', place)
      place.whole.named.add(nameOf(file))
    }
  }
  return input
}

/** Refuses texts that Bash reads twice, and expansions that are more than a value. */
function checkPart(node: SyntaxNode, place: Place): void {
  const { facts } = place
  if (node.type === 'ArithmeticWord')
    checkReadTwice(textOf({ ...node, type: 'Word', text: node.value }, facts), 'arithmetic')
  if ((node.type === 'Assignment' || node.type === 'ParameterExpansion') && node.index)
    checkReadTwice(textOf(node.index, facts), 'a subscript')
  if (node.type === 'TestUnary' || node.type === 'TestBinary')
    for (const word of node.type === 'TestUnary' ? [node.operand] : [node.left, node.right]) {
      checkSecret(textOf(word, facts), place)
      checkReadTwice(textOf(word, facts), '[[')
    }
  if (node.type === 'BraceExpansion')
    for (const name of node.text.slice(1, -1).split(',')) checkSecret(name, place)
  const isSet =
    node.type === 'ArithmeticExpansion' && /(^|[^=!<>])=([^=]|$)|\+\+|--/.test(node.text)
  const isDefault = node.type === 'Default' && node.operator.endsWith('=')
  const expansion = node.type === 'ParameterExpansion' ? node : undefined
  const operation = expansion?.operation?.type ?? 'Default'
  // The parser ends such a command too early.
  const isHidden = !/^(Default|Names)$/.test(operation) && /`|[$<>]\(/.test(expansion?.text ?? '')
  const isIndirect = expansion?.prefix === '!' && !expansion.index && operation !== 'Names'
  if (isSet || isDefault || isHidden || isIndirect)
    throw notPlain('an expansion does more than read a variable', 'Assign it before, as X=….')
}
