// Walks a script in its order of execution, with the known facts at each place, and passes its
// commands to command.ts.
// Owns: lists, branches, loops, pipes, substitutions, assignments, redirections.
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
import { anything, isPlain, list } from './field.ts'
import { nameOf } from './paths.ts'
import {
  checkSecret,
  checkWrite,
  deeper,
  type Input,
  type Place,
  rememberFetched,
  step,
} from './place.ts'
import { isNet } from './programs.ts'
import { notPlain, Refusal, shown } from './refusal.ts'
import { checkReadTwice, checkSetting, runsCommand } from './settings.ts'
import { after, assigned, both, joined, type Outcome, type State, same } from './state.ts'
import { bodyOf, fieldsOf, textOf } from './words.ts'

/** Judges a script's text. Throws a Refusal. */
export function walkText(text: string, place: Place): Outcome {
  const script: ParsedScript = parse(text)
  const [error] = script.errors ?? []
  if (error !== undefined)
    throw new Refusal(
      'unreadable',
      `it is not a Bash command that can be read: ${error.message} at "${shown(text.slice(error.pos, error.pos + 40))}"`,
      'Correct it, or write it more simply.',
    )
  return walkStatements(script.commands, place)
}

function walkStatements(statements: readonly Statement[], place: Place): Outcome {
  let outcome = both(place.state)
  for (const statement of statements) {
    const state = after(outcome)
    // Code after an exit is judged too, with the facts from before.
    const next = walkNode(statement, { ...place, state: state ?? place.state })
    outcome = state === undefined ? both(undefined) : next
  }
  return outcome
}

function walkNode(node: SyntaxNode, place: Place): Outcome {
  step(place)
  switch (node.type) {
    case 'Script':
      if ((node as ParsedScript).errors?.length)
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
      return walkIf(node, place)
    case 'While':
      return walkLoop(place, (inner) => {
        const { ok, failed } = walkNode(node.clause, inner)
        const [go, stop] = node.kind === 'while' ? [ok, failed] : [failed, ok]
        return { again: go && after(walkNode(node.body, { ...inner, state: go })), stop }
      })
    case 'For':
    case 'Select':
      return walkFor(node, place)
    case 'Case':
      return walkCase(node, place)
    case 'TestCommand':
      walkInside(node, place)
      return both(place.state)
    case 'ArithmeticCommand':
      walkInside(node, place)
      return both(counted(node.body, place.state))
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update])
        if (part !== undefined) walkInside(part, place)
      return walkLoop({ ...place, state: unknownVariables(place.state) }, (inner) => ({
        again: after(walkNode(node.body, inner)),
        stop: inner.state,
      }))
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
  walkNode(node, { ...place, leaps: [] })
  return both(place.state)
}

function walkAndOr(node: SyntaxNode & { type: 'AndOr' }, place: Place): Outcome {
  let { ok, failed } = both(place.state)
  for (const [i, command] of node.commands.entries()) {
    const operator = node.operators[i - 1]
    const from = operator === '||' ? failed : ok
    // After an exit: it never runs, and is judged with the facts from the beginning.
    const next = walkNode(command, { ...place, state: from ?? place.state })
    const end = from === undefined ? both(undefined) : next
    if (operator === '||') [ok, failed] = [joined(ok, end.ok), end.failed]
    else [ok, failed] = [end.ok, operator === undefined ? end.failed : joined(failed, end.failed)]
  }
  return { ok, failed }
}

function walkPipeline(node: SyntaxNode & { type: 'Pipeline' }, place: Place): Outcome {
  const [only] = node.commands
  if (node.commands.length === 1 && only !== undefined) {
    const { ok, failed } = walkNode(only, place)
    const negations = node.prefixes.filter(({ type }) => type === 'Negation').length
    return negations % 2 === 1 ? { ok: failed, failed: ok } : { ok, failed }
  }
  let fromNet = place.input.kind === 'net'
  let last: State | undefined
  for (const [i, command] of node.commands.entries()) {
    const input: Input = i === 0 ? place.input : { kind: fromNet ? 'net' : 'pipe' }
    const isRead = place.isRead || i < node.commands.length - 1
    last = after(walkNode(command, { ...place, input, isRead, leaps: [] }))
    fromNet ||= isFromNet(command, place)
  }
  // The last command of a pipe runs in the shell itself in some shells.
  return both(joined(place.state, last))
}

function walkIf(node: SyntaxNode & { type: 'If' }, place: Place): Outcome {
  let result: State | undefined
  let otherwise: State | undefined = place.state
  for (const { clause, then } of [node, ...node.elif]) {
    const { ok, failed } = walkNode(clause, { ...place, state: otherwise ?? place.state })
    result = joined(result, branch(then, otherwise && ok, place))
    otherwise = otherwise && failed
  }
  const last = node.else === undefined ? otherwise : branch(node.else, otherwise, place)
  return both(joined(result, last))
}

/** The state after a branch. An unreachable branch is judged too (SHELL-SCRIPT-1). */
function branch(node: SyntaxNode, state: State | undefined, place: Place): State | undefined {
  const outcome = walkNode(node, { ...place, state: state ?? place.state })
  return state && after(outcome)
}

function walkCase(node: SyntaxNode & { type: 'Case' }, place: Place): Outcome {
  walkInside(node.word, place)
  let result: State | undefined = place.state
  for (const { pattern, body, terminator } of node.items) {
    for (const word of pattern) walkInside(word, place)
    if (terminator === ';&' || terminator === ';;&')
      throw notPlain(`a case falls through with ${terminator}`, 'End each case with ;;.')
    result = joined(result, branch(body, place.state, place))
  }
  return both(result)
}

const unrolledMax = 64

/** Known words are walked one by one. Otherwise the variable may have any text. */
function walkFor(node: SyntaxNode & { type: 'For' | 'Select' }, place: Place): Outcome {
  const name = node.name.value
  for (const word of node.wordlist ?? []) walkInside(word, place)
  const words = node.wordlist === undefined ? [anything] : fieldsOf(node.wordlist, place.state)
  for (const word of words) {
    checkSecret(word, place)
    checkSetting(name, word, place)
  }
  const isListed = node.type === 'For' && words.length <= unrolledMax
  const values = isListed && !words.some((word) => word.includes(anything)) ? words : [undefined]
  return walkLoop(place, (inner) => {
    let state: State | undefined = inner.state
    let all: State | undefined = inner.state
    for (const value of values) {
      const here = { ...inner, state: assigned(state ?? inner.state, name, value) }
      state = after(walkNode(node.body, here))
      all = joined(all, state)
    }
    return { again: all, stop: undefined }
  })
}

/**
 * Walks a loop's body until another lap adds nothing (SHELL-SCRIPT-2). `lap` returns the start of
 * the next lap and, if its condition allows it, the end of the loop.
 */
function walkLoop(
  place: Place,
  lap: (place: Place) => { again: State | undefined; stop: State | undefined },
): Outcome {
  let start = place.state
  for (let laps = 0; ; laps++) {
    const leaps: State[] = []
    const { again, stop } = lap({ ...place, state: start, leaps })
    const end = leaps.reduce<State | undefined>(joined, again)
    const next = joined(start, end) ?? start
    if (same(next, start)) return both(joined(next, stop))
    // A folder that grows with each lap would never settle.
    start = laps < 3 ? next : { ...next, folders: undefined }
  }
}

// ── Commands ──

function walkCommand(node: Command, place: Place): Outcome {
  for (const part of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix])
    walkInside(part, place)
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
  const home = own.variables.get('HOME') ?? anything
  const state = prefixes.some((one) => one.name === 'HOME')
    ? assigned(place.state, 'HOME', home)
    : place.state
  const { ok, failed } = judgeCommand([...fields, ...declarations.map((one) => one.name)], {
    ...place,
    input: input ?? place.input,
    state: assign(declarations, { ...place, state }),
  })
  const restored = (end: State | undefined) =>
    end && state !== place.state ? assigned(end, 'HOME', place.state.variables.get('HOME')) : end
  return { ok: restored(ok), failed: restored(failed) }
}

/** `command`: the settings hold for this command only. */
function assign(assignments: readonly Assignment[], place: Place, command?: string): State {
  let { state } = place
  for (const { name, value, append, index } of assignments) {
    const texts =
      value.type === 'ArrayValue' ? fieldsOf(value.elements, state) : [textOf(value, state)]
    const before = state.variables.get(name) ?? anything
    for (const text of texts) {
      checkSecret(text, place)
      checkSetting(name, append ? before + text : text, { ...place, state }, command)
    }
    const [text = ''] = texts
    const isKnown = value.type === 'Word' && index === undefined && !text.includes('~')
    state = assigned(state, name, isKnown ? (append ? before + text : text) : undefined)
  }
  return state
}

/** Arithmetic assigns numbers to the variables that it names. */
function counted(text: string, state: State): State {
  const named = text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []
  return named
    .filter((name) => state.variables.has(name))
    .reduce((next, name) => assigned(next, name, undefined), state)
}

function unknownVariables(state: State): State {
  return [...state.variables.keys()].reduce((next, name) => assigned(next, name, undefined), state)
}

/** Checks the targets of a command's output. Returns its input, if a redirection sets one. */
function redirected(redirects: readonly Redirection[], fromNet: boolean, place: Place) {
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
function isFromNet(node: SyntaxNode, place: Place): boolean {
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

// ── Words ──

const opaqueParts = list('CommandExpansion ProcessSubstitution ArithmeticCommandExpansion')

/** Judges the scripts in a part of a command, and texts that Bash reads twice (SHELL-SCRIPT-1). */
function walkInside(node: SyntaxNode, place: Place): void {
  step(place)
  const { state } = place
  if (opaqueParts.includes(node.type) && 'script' in node && node.script === undefined)
    throw new Refusal('unreadable', 'a substitution cannot be read', 'Write it more simply.')
  if (node.type === 'ArithmeticWord') {
    const text = textOf({ ...node, type: 'Word', text: node.value }, state)
    checkReadTwice(text, 'arithmetic', runsCommand)
  }
  if ((node.type === 'Assignment' || node.type === 'ParameterExpansion') && node.index)
    checkReadTwice(textOf(node.index, state), 'a subscript', runsCommand)
  if (node.type === 'ParameterExpansion' && node.operation?.type === 'Transform')
    if (node.operation.operand.value === 'P')
      throw notPlain(`${shown(node.text)} reads a value as a prompt`, 'Use the plain value.')
  if (node.type === 'ParameterExpansion' && node.prefix === '!' && node.index === undefined)
    if (node.operation?.type !== 'Names')
      throw notPlain(
        `${shown(node.text)} reads a variable by another's value`,
        'Use the variable itself.',
      )
  if (node.type === 'TestUnary' || node.type === 'TestBinary')
    for (const word of node.type === 'TestUnary' ? [node.operand] : [node.left, node.right]) {
      checkSecret(textOf(word, state), place)
      checkReadTwice(textOf(word, state), '[[')
    }
  if (node.type === 'Script') {
    walkNode(node, { ...deeper(place), isRead: true })
  } else if (node.type === 'ProcessSubstitution' && node.operator === '>' && node.script) {
    walkNode(node.script, { ...deeper(place), input: { kind: 'pipe' } })
  } else {
    forEachChild(node, (child) => walkInside(child, place))
  }
}
