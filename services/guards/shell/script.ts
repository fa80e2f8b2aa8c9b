// Walks a script in its order of execution, with the known facts at each place, and passes its
// commands to command.ts.
// Owns: lists, branches, loops, functions, pipes.
// Does not own: the effect of a single command, redirections and assignments (files of these
// names).
//
// SHELL-SCRIPT-1. Every command of the script is judged, even in a branch that may not run, in a
//     substitution, in a here-document, or in an index.
// SHELL-SCRIPT-2. The facts at a place hold on every path that leads there. Where two paths meet,
//     only their common facts stay.
// SHELL-SCRIPT-3. A script with a parser error is refused: the parser continues after an error, and
//     its tree is then a guess.

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
import { assign, countedIn, withoutSettings, withSettings } from './assignments.ts'
import { judgeCommand } from './command.ts'
import {
  after,
  assigned,
  both,
  defined,
  type Environment,
  joined,
  type Outcome,
  same,
} from './environment.ts'
import { anything } from './field.ts'
import { readsNet } from './net.ts'
import { checkSecret, deeper, type Input, type Place, step } from './place.ts'
import { checkPart, checkValue } from './read-again.ts'
import { redirected } from './redirections.ts'
import { Refusal, shown } from './refusal.ts'
import { fieldsOf, textOf } from './words.ts'

/** Judges a script's text. Throws a Refusal. */
export function walkText(text: string, place: Place): Outcome {
  return walkScript(parse(text) as ParsedScript, text, place)
}

function walkScript(script: ParsedScript, text: string | undefined, place: Place): Outcome {
  const [error] = script.errors ?? []
  if (error !== undefined) {
    const where = text === undefined ? '' : ` at "${shown(text.slice(error.pos, error.pos + 40))}"`
    throw new Refusal(
      'unreadable',
      `it is not a Bash command that can be read: ${error.message}${where}`,
      'Correct it, or write it more simply.',
    )
  }
  return walkStatements(script.commands, place)
}

function walkStatements(statements: readonly Statement[], place: Place): Outcome {
  let outcome = both(place.environment)
  for (const statement of statements) {
    const environment = after(outcome)
    // Code after an exit runs only if a path leads around the exit. It is judged anyway, with the
    // facts from before.
    const here = { ...place, environment: environment ?? place.environment }
    const next = walkNode(statement, here)
    outcome = environment === undefined ? both(undefined) : next
  }
  return outcome
}

export function walkNode(node: SyntaxNode, place: Place): Outcome {
  step(place)
  switch (node.type) {
    case 'Script':
      return walkScript(node as ParsedScript, undefined, place)
    case 'CompoundList':
      return walkStatements(node.commands, place)
    case 'Statement':
      if (!node.background) return walkNode(node.command, place)
      walkApart(node.command, place)
      return both(place.environment)
    case 'AndOr':
      return walkAndOr(node, place)
    case 'Pipeline':
      return walkPipeline(node, place)
    case 'Command':
      return walkCommand(node, place)
    case 'Redirected': {
      const input = redirected(
        node.redirects,
        readsNet(node.command) || place.input.kind === 'net',
        place,
      )
      return walkNode(node.command, { ...place, input: input ?? place.input })
    }
    case 'BraceGroup':
      return walkNode(node.body, place)
    case 'Subshell':
      walkApart(node.body, place)
      return both(place.environment)
    case 'If':
      return walkIf(node, place)
    case 'While':
      return walkLoop(place, (inner) => {
        const { ok, failed } = walkNode(node.clause, inner)
        const [go, stop] = node.kind === 'while' ? [ok, failed] : [failed, ok]
        return { again: go && after(walkNode(node.body, { ...inner, environment: go })), stop }
      })
    case 'For':
    case 'Select':
      return walkFor(node, place)
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update])
        if (part !== undefined) walkInside(part, place)
      return walkLoop({ ...place, environment: countedIn(node, place.environment) }, (inner) => ({
        again: after(walkNode(node.body, inner)),
        stop: inner.environment,
      }))
    case 'Case':
      return walkCase(node, place)
    case 'Function':
      // A function may run at any later place and is judged there. It is also judged here, in case
      // its call is not visible.
      walkApart(node.body, { ...place, input: { kind: 'nothing' } })
      return both(defined(place.environment, node.name.value, node.body))
    case 'Coproc':
      walkApart(node.body, { ...place, input: { kind: 'pipe' } })
      return both(place.environment)
    case 'TestCommand':
      walkInside(node, place)
      for (const word of wordsIn(node)) checkSecret(textOf(word, place), place)
      return both(place.environment)
    case 'ArithmeticCommand':
      walkInside(node, place)
      return both(countedIn(node, place.environment))
    default:
      throw new Refusal(
        'unreadable',
        `it has a part that this guard does not know (${node.type})`,
        'Write it more simply.',
      )
  }
}

/** Runs in a separate process, whose changes do not reach this shell. */
function walkApart(node: SyntaxNode, place: Place): void {
  walkNode(node, { ...place, leaps: [] })
}

function walkAndOr(node: SyntaxNode & { type: 'AndOr' }, place: Place): Outcome {
  const [first, ...rest] = node.commands
  let { ok, failed } = first === undefined ? both(place.environment) : walkNode(first, place)
  for (const [i, command] of rest.entries()) {
    const isAnd = node.operators[i] === '&&'
    const from = isAnd ? ok : failed
    // After an exit: it never runs, and is judged with the facts from the beginning.
    const next = walkNode(command, { ...place, environment: from ?? place.environment })
    const taken = from === undefined ? both(undefined) : next
    if (isAnd) {
      ok = taken.ok
      failed = joined(failed, taken.failed)
    } else {
      ok = joined(ok, taken.ok)
      failed = taken.failed
    }
  }
  return { ok, failed }
}

function walkPipeline(node: SyntaxNode & { type: 'Pipeline' }, place: Place): Outcome {
  const isNegated = node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1
  const [only] = node.commands
  if (node.commands.length === 1 && only !== undefined) {
    const { ok, failed } = walkNode(only, place)
    return isNegated ? { ok: failed, failed: ok } : { ok, failed }
  }
  let fromNet = false
  let last: Environment | undefined
  const leaps: Environment[] = []
  for (const [i, command] of node.commands.entries()) {
    const input: Input =
      i === 0 ? place.input : { kind: fromNet || place.input.kind === 'net' ? 'net' : 'pipe' }
    last = after(
      walkNode(command, {
        ...place,
        input,
        leaps,
        isRead: place.isRead || i < node.commands.length - 1,
      }),
    )
    fromNet ||= readsNet(command)
  }
  // The last command of a pipe runs in the shell itself under lastpipe, and in other shells.
  return both(leaps.reduce<Environment | undefined>(joined, joined(place.environment, last)))
}

function walkIf(node: SyntaxNode & { type: 'If' }, place: Place): Outcome {
  const { ok, failed } = walkNode(node.clause, place)
  let result = branch(node.then, ok, place)
  let otherwise = failed
  for (const { clause, then } of node.elif) {
    const next = walkNode(clause, { ...place, environment: otherwise ?? place.environment })
    result = joined(result, branch(then, otherwise && next.ok, place))
    otherwise = otherwise && next.failed
  }
  const last = node.else === undefined ? otherwise : branch(node.else, otherwise, place)
  return both(joined(result, last))
}

/** The result of a branch. An unreachable branch is judged too (SHELL-SCRIPT-1). */
function branch(
  node: SyntaxNode,
  environment: Environment | undefined,
  place: Place,
): Environment | undefined {
  const outcome = walkNode(node, { ...place, environment: environment ?? place.environment })
  return environment && after(outcome)
}

function walkCase(node: SyntaxNode & { type: 'Case' }, place: Place): Outcome {
  walkInside(node.word, place)
  let result: Environment | undefined = place.environment
  let fallen: Environment | undefined
  for (const item of node.items) {
    for (const pattern of item.pattern) walkInside(pattern, place)
    const end = branch(item.body, joined(place.environment, fallen), place)
    fallen = item.terminator === ';&' || item.terminator === ';;&' ? end : undefined
    result = joined(result, end)
  }
  return both(result)
}

// ── Loops ──

const unrolledMax = 64

/** Known words are walked one by one. Otherwise the variable may have any text. */
function walkFor(node: SyntaxNode & { type: 'For' | 'Select' }, place: Place): Outcome {
  for (const word of node.wordlist ?? []) walkInside(word, place)
  const words = node.wordlist === undefined ? [anything] : fieldsOf(node.wordlist, place)
  for (const word of words) {
    checkSecret(word, place)
    checkValue(node.name.value, word)
  }
  const isListed =
    node.type === 'For' &&
    words.length <= unrolledMax &&
    words.every((word) => !word.includes(anything))
  const values = isListed ? words : [undefined]
  return walkLoop(place, (inner) => {
    let environment: Environment | undefined = inner.environment
    let all: Environment | undefined = inner.environment
    for (const value of values) {
      environment = after(
        walkNode(node.body, {
          ...inner,
          environment: assigned(environment ?? inner.environment, node.name.value, value),
        }),
      )
      all = joined(all, environment)
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
  lap: (place: Place) => { again: Environment | undefined; stop: Environment | undefined },
): Outcome {
  let start: Environment = place.environment
  for (let laps = 0; ; laps++) {
    const leaps: Environment[] = []
    const { again, stop } = lap({ ...place, environment: start, leaps })
    const end = leaps.reduce<Environment | undefined>(joined, again)
    const next = joined(start, end) ?? start
    if (same(next, start)) return both(joined(next, stop))
    // A folder or a text that grows with each lap would never settle.
    start = laps < 3 ? next : { ...next, cwds: undefined }
  }
}

// ── Commands ──

function walkCommand(node: Command, place: Place): Outcome {
  for (const part of [
    ...node.prefix,
    ...(node.name === undefined ? [] : [node.name]),
    ...node.suffix,
  ])
    walkInside(part, place)
  const words: Word[] = node.name === undefined ? [] : [node.name]
  const declarations: Assignment[] = []
  for (const arg of node.args) {
    if (arg.type === 'Word') words.push(arg)
    else declarations.push(arg)
  }
  const fields = fieldsOf(words, place)
  const input = redirected(
    node.redirects,
    readsNet(node) || place.input.kind === 'net',
    place,
    fields[0] === 'exec' && fields.length === 1,
  )
  const prefixes = node.prefix.filter((part): part is Assignment => part.type === 'Assignment')
  const here = { ...place, input: input ?? place.input }
  if (fields.length === 0) return both(assign([...prefixes, ...declarations], place))

  const own = withSettings(prefixes, place)
  const { ok, failed } = judgeCommand([...fields, ...declarations.map(({ name }) => name)], {
    ...here,
    environment: assign(declarations, { ...place, environment: own }),
  })
  const restored = (environment: Environment | undefined) =>
    own === place.environment || environment === undefined
      ? environment
      : withoutSettings(environment, place.environment)
  return { ok: restored(ok), failed: restored(failed) }
}

// ── Substitutions ──

/** Judges the scripts of the substitutions in a part of a command (SHELL-SCRIPT-1). */
function walkInside(node: SyntaxNode, place: Place): void {
  step(place)
  checkPart(node, place)
  if (
    (node.type === 'CommandExpansion' ||
      node.type === 'ProcessSubstitution' ||
      node.type === 'ArithmeticCommandExpansion') &&
    node.script === undefined
  )
    throw new Refusal(
      'unreadable',
      `what "${shown(node.text)}" runs cannot be read`,
      'Write it more simply.',
    )
  if (node.type === 'Script') {
    walkNode(node, { ...deeper(place), isRead: true, leaps: [] })
  } else if (
    node.type === 'ProcessSubstitution' &&
    node.operator === '>' &&
    node.script !== undefined
  ) {
    walkNode(node.script, {
      ...deeper(place),
      input: { kind: place.input.kind === 'net' ? 'net' : 'pipe' },
      leaps: [],
    })
  } else {
    forEachChild(node, (child) => walkInside(child, place))
  }
}

function wordsIn(node: SyntaxNode): Word[] {
  if (node.type === 'Word') return [node]
  const words: Word[] = []
  forEachChild(node, (child) => {
    if (child.type !== 'Script') words.push(...wordsIn(child))
  })
  return words
}
