// Walks a script in its order of execution, with the known facts at each place, and passes its
// commands to command.ts.
// Owns: lists, branches, loops, pipes, substitutions.
// Does not own: the effect of a single command (command.ts), the value of a word (words.ts),
// assignments and redirections (files of these names).
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
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { assign, counted, unknownVariables } from './assignments.ts'
import { judgeCommand } from './command.ts'
import { anything, list } from './field.ts'
import { nameOf } from './paths.ts'
import { checkSecret, deeper, type Input, type Place, step } from './place.ts'
import { isFromNet, redirected } from './redirections.ts'
import { notPlain, Refusal, shown } from './refusal.ts'
import { checkReadTwice, checkSetting, runsCommand } from './settings.ts'
import { after, assigned, both, joined, type Outcome, type State, same } from './state.ts'
import { fieldsOf, textOf } from './words.ts'

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
    case 'If': {
      const elifs = node.elif.flatMap(({ clause, then }) => [clause, then])
      const parts = [node.clause, node.then, ...elifs, ...(node.else ? [node.else] : [])]
      return walkSome(parts, place)
    }
    case 'While':
      return walkLoop([node.clause, node.body], place)
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
    case 'ArithmeticFor': {
      const state = unknownVariables(place.state)
      for (const part of [node.initialize, node.test, node.update])
        if (part !== undefined) walkInside(part, place)
      return walkLoop([node.body], { ...place, state })
    }
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

/** Parts that may run or not, in this order: each starts with the common facts of all before. */
function walkSome(parts: readonly SyntaxNode[], place: Place): Outcome {
  return both(
    parts.reduce(
      (state, part) => joined(state, after(walkNode(part, { ...place, state }))) ?? state,
      place.state,
    ),
  )
}

function walkCase(node: SyntaxNode & { type: 'Case' }, place: Place): Outcome {
  for (const word of [node.word, ...node.items.flatMap(({ pattern }) => pattern)])
    walkInside(word, place)
  return walkSome(
    node.items.map(({ body }) => body),
    place,
  )
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
  const texts = isListed && !words.some((word) => word.includes(anything)) ? words : [undefined]
  return walkLoop([node.body], place, (state, i) => assigned(state, name, texts[i]), texts.length)
}

/**
 * Walks a loop's parts until another lap adds nothing (SHELL-SCRIPT-2). `turn`: the state at the
 * start of a turn. A lap has `turns` turns.
 */
function walkLoop(
  parts: readonly SyntaxNode[],
  place: Place,
  turn: (state: State, i: number) => State = (state) => state,
  turns = 1,
): Outcome {
  let start = place.state
  for (let laps = 0; ; laps++) {
    const leaps: State[] = []
    let all = start
    for (let i = 0; i < turns; i++) {
      const { ok } = walkSome(parts, { ...place, leaps, state: turn(all, i) })
      all = joined(all, ok) ?? all
    }
    const next = leaps.reduce((one, other) => joined(one, other) ?? one, all)
    if (same(next, start)) return both(next)
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
  const assigns =
    node.type === 'ArithmeticExpansion'
      ? /(^|[^=!<>])=([^=]|$)|\+\+|--/.test(node.text)
      : node.type === 'ParameterExpansion' &&
        node.operation?.type === 'Default' &&
        node.operation.operator.endsWith('=')
  if (assigns)
    throw notPlain('an expansion changes a variable', 'Assign it in a command before, as X=….')
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
