// Walks a script in its order of execution, with the known facts at each place, and passes its
// commands to command.ts.
// Owns: lists, branches, loops, pipes, redirections, assignments, substitutions.
// Does not own: the effect of a single command (command.ts), the value of a word (words.ts).
//
// SHELL-SCRIPT-1. Every command of the script is judged, even in a branch that may not run, in a
//     substitution, in a here-document, or in an index.
// SHELL-SCRIPT-2. The facts at a place hold on every path that leads there. Where two paths meet,
//     only their common facts stay.
// SHELL-SCRIPT-3. A construct that this file does not name is refused, and so is a script with a
//     parser error: the tree is then a guess.

import {
  type Assignment,
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { judgeCommand } from './command.ts'
import { anything, isPlain, isUnknown, list, nameOf } from './field.ts'
import {
  assigned,
  both,
  checkSecret,
  checkWrite,
  deeper,
  type Input,
  joined,
  type Outcome,
  type Place,
  rememberFetched,
  type State,
  step,
  unknownVariables,
  withVariable,
} from './place.ts'
import { isNet } from './programs.ts'
import { notPlain, Refusal, shown } from './refusal.ts'
import { checkReadTwice, checkSetting, runsCommand } from './settings.ts'
import { bodyOf, fieldsOf, textOf } from './words.ts'

/** Judges a script's text. Throws a Refusal. */
export function walkText(text: string, place: Place): Outcome {
  const script: ParsedScript = parse(text)
  const [error] = script.errors ?? []
  if (error === undefined) return walkStatements(script.commands, place)
  throw new Refusal(
    'unreadable',
    `it is not a Bash command that can be read: ${error.message} at "${shown(text.slice(error.pos, error.pos + 40))}"`,
    'Correct it, or write it more simply.',
  )
}

function walkStatements(statements: readonly Statement[], place: Place): Outcome {
  let outcome = both(place.state)
  for (const statement of statements)
    outcome = walkNode(statement, { ...place, state: outcome.any })
  return outcome
}

function walkNode(node: SyntaxNode, place: Place): Outcome {
  step(place)
  switch (node.type) {
    case 'Script':
      if (node.errors?.length)
        throw new Refusal('unreadable', 'a part of it cannot be read', 'Write it more simply.')
      return walkStatements(node.commands, place)
    case 'CompoundList':
      return walkStatements(node.commands, place)
    case 'Statement':
      return node.background ? apart(node.command, place) : walkNode(node.command, place)
    case 'AndOr':
      return walkAndOr(node, place)
    case 'Pipeline':
      return walkPipeline(node, place)
    case 'Command':
      return walkCommand(node, place)
    case 'Redirected': {
      const input = redirected(node.redirects, isFromNet(node.command, place), place)
      return walkNode(node.command, { ...place, input: input ?? place.input })
    }
    case 'BraceGroup':
      return walkNode(node.body, place)
    case 'Subshell':
      return apart(node.body, place)
    case 'If':
    case 'Case':
      return both(walkParts(partsOf(node, place), place))
    case 'While':
      return walkLoop(partsOf(node, place), place)
    case 'For':
    case 'Select':
      return walkFor(node, place)
    case 'ArithmeticFor':
      return walkLoop(partsOf(node, place), { ...place, state: unknownVariables(place.state) })
    case 'ArithmeticCommand':
      walkInside(node, place)
      return both(unknownVariables(place.state))
    case 'TestCommand':
      walkInside(node, place)
      return both(place.state)
    case 'Function':
      throw notPlain('it defines a function', 'Write the commands of the function where they run.')
    case 'Coproc':
      throw notPlain('it starts a coprocess', 'Run the command in the background with & instead.')
    default:
      throw notPlain(`it has a part that this guard does not know (${node.type})`)
  }
}

/** Runs in a separate process, whose changes do not reach this shell. */
function apart(node: SyntaxNode, place: Place): Outcome {
  walkNode(node, place)
  return both(place.state)
}

function walkAndOr(node: SyntaxNode & { type: 'AndOr' }, place: Place): Outcome {
  let { ok, any } = both(place.state)
  for (const [i, command] of node.commands.entries()) {
    const isOr = node.operators[i - 1] === '||'
    const next = walkNode(command, { ...place, state: isOr ? any : ok })
    ok = isOr ? joined(ok, next.ok) : next.ok
    any = joined(any, next.any)
  }
  return { ok, any }
}

function walkPipeline(node: SyntaxNode & { type: 'Pipeline' }, place: Place): Outcome {
  const [only] = node.commands
  if (node.commands.length === 1 && only !== undefined) {
    const outcome = walkNode(only, place)
    return node.prefixes.some(({ type }) => type === 'Negation') ? both(outcome.any) : outcome
  }
  let fromNet = place.input.kind === 'net'
  let end = place.state
  for (const [i, command] of node.commands.entries()) {
    const before = node.commands[i - 1]
    const kind = fromNet ? 'net' : before && printsNames(before, place) ? 'names' : 'pipe'
    const input: Input = i === 0 ? place.input : { kind }
    const isRead = place.isRead || i < node.commands.length - 1
    end = walkNode(command, { ...place, input, isRead }).any
    fromNet ||= isFromNet(command, place)
  }
  // The last command of a pipe runs in the shell itself in some shells.
  return both(joined(place.state, end))
}

/** Whether it prints the names of files below the folder of the shell: `grep -rl TEXT FOLDER`. */
function printsNames(node: SyntaxNode, { state }: Place): boolean {
  if (node.type !== 'Command' || node.name === undefined || node.prefix.length > 0) return false
  const words = node.args.filter((arg): arg is Word => arg.type === 'Word')
  const [name, ...fields] = fieldsOf([node.name, ...words], state)
  return (
    name === 'grep' &&
    fields.some((field) => /^-[rRinEFwI]*l/.test(field)) &&
    fields.every((field) =>
      /^(-[rRlinEFwI]+|--include=[\w*.\uE001]+|[^-/~\uE000].*)$/s.test(field),
    ) &&
    !fields.some((field) => field.includes('..') || isUnknown(field))
  )
}

/** The lists of commands in a compound. Judges its words. */
function partsOf(node: SyntaxNode, place: Place): SyntaxNode[] {
  const parts: SyntaxNode[] = []
  forEachChild(node, (child) => {
    if (child.type === 'CompoundList') parts.push(child)
    else if (child.type === 'Elif' || child.type === 'CaseItem')
      parts.push(...partsOf(child, place))
    else walkInside(child, place)
  })
  return parts
}

/** Parts that may run or not, in this order: each starts with the common facts of all before. */
function walkParts(parts: readonly SyntaxNode[], place: Place): State {
  return parts.reduce(
    (state, part) => joined(state, walkNode(part, { ...place, state }).any),
    place.state,
  )
}

/** A second lap has the facts that hold in all later ones: any folder, if the first changed it. */
function walkLoop(
  parts: readonly SyntaxNode[],
  place: Place,
  turns: ((state: State) => State)[] = [(state) => state],
): Outcome {
  const lap = (start: State) =>
    turns.reduce(
      (state, turn) => joined(state, walkParts(parts, { ...place, state: turn(state) })),
      start,
    )
  const first = lap(place.state)
  const moved = String(first.folders) !== String(place.state.folders)
  if (first === place.state) return both(first)
  return both(lap(moved ? { ...first, folders: undefined } : first))
}

const unrolledMax = 64

/** Known words are walked one by one. Otherwise the variable may have any text. */
function walkFor(node: SyntaxNode & { type: 'For' | 'Select' }, place: Place): Outcome {
  const name = node.name.value
  const parts = partsOf(node, place)
  const words = node.wordlist === undefined ? [anything] : fieldsOf(node.wordlist, place.state)
  for (const word of words) {
    checkSecret(word, place)
    checkSetting(name, word, place)
  }
  const isListed = node.type === 'For' && words.length <= unrolledMax
  const texts = isListed && !words.some((word) => word.includes(anything)) ? words : [anything]
  const { any } = walkLoop(
    parts,
    place,
    texts.map((text) => (state) => withVariable(state, name, text)),
  )
  return both(withVariable(any, name, anything))
}

// ── Commands ──

function walkCommand(node: Command, place: Place): Outcome {
  forEachChild(node, (part) => walkInside(part, place))
  const isAssignment = (part: { type: string }) => part.type === 'Assignment'
  const prefixes = node.prefix.filter(isAssignment) as Assignment[]
  const declarations = node.args.filter(isAssignment) as Assignment[]
  const words = node.args.filter((arg): arg is Word => arg.type === 'Word')
  const fields = fieldsOf(node.name ? [node.name, ...words] : [], place.state)
  const [name] = fields
  const input = redirected(node.redirects, isFromNet(node, place), place)
  if (name === 'exec' && fields.length === 1 && input !== undefined)
    throw notPlain(
      'exec changes where all later commands read from',
      'Redirect the input of the command that reads it.',
    )
  if (name === undefined) return both(assign([...prefixes, ...declarations], place))
  const own = assign(prefixes, place, nameOf(name))
  // Of the settings for one command, only HOME changes the judgement of its words.
  const state = prefixes.some((one) => one.name === 'HOME') ? own : place.state
  return judgeCommand([...fields, ...declarations.map((one) => one.name)], {
    ...place,
    input: input ?? place.input,
    state: assign(declarations, { ...place, state }),
  })
}

/** `command`: the settings hold for this command only. */
function assign(assignments: readonly Assignment[], place: Place, command?: string): State {
  let { state } = place
  for (const { name, value, append, index } of assignments) {
    const texts =
      value.type === 'ArrayValue' ? fieldsOf(value.elements, state) : [textOf(value, state)]
    const before = append ? (state.variables.get(name) ?? anything) : ''
    for (const text of texts) {
      checkSecret(text, place)
      checkSetting(name, before + text, { ...place, state }, command)
    }
    const isKnown = value.type === 'Word' && index === undefined && !append
    state = assigned(state, name, isKnown && !texts[0]?.includes('~') ? texts[0] : undefined)
  }
  return state
}

/** Checks the targets of a command's output. Returns its input, if a redirection sets one. */
function redirected(redirects: readonly Redirection[], fromNet: boolean, place: Place) {
  let input: Input | undefined
  for (const redirect of redirects) {
    if (redirect.type !== 'Redirect') {
      const isDoc = redirect.type === 'HereDoc'
      const { target } = isDoc ? { target: undefined } : redirect
      const text = isDoc ? bodyOf(redirect, place.state) : target && textOf(target, place.state)
      input = { kind: 'text', text: text ?? '' }
      continue
    }
    const { operator, target, descriptor } = redirect
    const [file, ...more] = target ? fieldsOf([target], place.state) : []
    if (file === undefined || more.length > 0)
      throw new Refusal(
        'unknowable',
        'the file of a redirection is only known when the command runs',
        'Write its name out, in quotes.',
      )
    checkSecret(file, place)
    if (operator === '<' || operator === '<&') {
      if (descriptor?.type === 'FileDescriptor' && descriptor.value !== 0) continue
      if (/^\/dev\/(tcp|udp)\//.test(file)) input = { kind: 'net' }
      else if (operator === '<&') input = file === '-' ? input : { kind: 'pipe' }
      else input = isPlain(file) ? { kind: 'file', path: file } : { kind: 'pipe' }
    } else if (operator !== '>&' || !/^(\d+-?|-)$/.test(file)) {
      checkWrite(file, 'a redirection', place)
      if (fromNet) rememberFetched(file, place)
    }
  }
  return input
}

/** Whether a part of a script reads from the net. In doubt yes: each word is looked at. */
function isFromNet(node: SyntaxNode, place: Place): boolean {
  step(place)
  let found =
    place.input.kind === 'net' ||
    (node.type === 'Word' && (isNet(nameOf(node.value)) || /^\/dev\/(tcp|udp)\//.test(node.value)))
  forEachChild(node, (child) => {
    found ||= isFromNet(child, place)
  })
  return found
}

// ── Words ──

const opaqueParts = list('CommandExpansion ProcessSubstitution ArithmeticCommandExpansion')

/** Judges the scripts in a part of a command, and texts that Bash reads twice (SHELL-SCRIPT-1). */
function walkInside(node: SyntaxNode, place: Place): void {
  step(place)
  checkPart(node, place)
  if (node.type === 'Script') {
    walkNode(node, { ...deeper(place), isRead: true })
  } else if (node.type === 'ProcessSubstitution' && node.operator === '>' && node.script) {
    walkNode(node.script, { ...deeper(place), input: { kind: 'pipe' } })
  } else {
    forEachChild(node, (child) => walkInside(child, place))
  }
}

function checkPart(node: SyntaxNode, place: Place): void {
  const { state } = place
  if (opaqueParts.includes(node.type) && 'script' in node && node.script === undefined)
    throw new Refusal('unreadable', 'a substitution cannot be read', 'Write it more simply.')
  if (node.type === 'ArithmeticWord') {
    const text = textOf({ ...node, type: 'Word', text: node.value }, state)
    checkReadTwice(text, 'arithmetic', runsCommand)
  }
  if ((node.type === 'Assignment' || node.type === 'ParameterExpansion') && node.index)
    checkReadTwice(textOf(node.index, state), 'a subscript', runsCommand)
  if (node.type === 'TestUnary' || node.type === 'TestBinary')
    for (const word of node.type === 'TestUnary' ? [node.operand] : [node.left, node.right]) {
      checkSecret(textOf(word, state), place)
      checkReadTwice(textOf(word, state), '[[')
    }
  if (node.type === 'ArithmeticExpansion' && /(^|[^=!<>])=([^=]|$)|\+\+|--/.test(node.text))
    throw notPlain('an expansion changes a variable', 'Assign it in a command before, as X=….')
  if (node.type !== 'ParameterExpansion') return
  const { operation, prefix, index, text } = node
  if (operation?.type === 'Default' && operation.operator.endsWith('='))
    throw notPlain('an expansion changes a variable', 'Assign it in a command before, as X=….')
  if (operation?.type === 'Transform' && operation.operand.value === 'P')
    throw notPlain(`${shown(text)} reads a value as a prompt`, 'Use the plain value.')
  if (prefix === '!' && index === undefined && operation?.type !== 'Names')
    throw notPlain(`${shown(text)} reads a variable by another's value`, 'Use the variable itself.')
}
