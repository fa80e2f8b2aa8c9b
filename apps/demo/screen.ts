// The output of the demo: both halves line by line as they happen, then one comparison. It is 80
// columns wide, with colours only if the terminal supports them.

import { styleText } from 'node:util'
import type { Activity } from '../../client/edge.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { onOneLine } from '../../shared/lib/text-cut.ts'
import { callRejectedText, interventionText, roundStartedText } from '../terminal/activity-texts.ts'
import { isCheckout, ownCommand, shellWord } from '../terminal/own-command.ts'
import { printable } from '../terminal/printable.ts'
import { wrapped } from '../terminal/word-wrap.ts'
import type { LoopEnd } from './plain-loop.ts'
import type { BadModel } from './reflex-model.ts'

type Half = LoopEnd & { requests: number }

export const incident = 'Incident I1: a model calls exec with {} and never gives it a command.'
export const plainLoop = 'a plain loop: ask the model, run what it calls, ask again'

export type Screen = ReturnType<typeof createScreen>

export function createScreen(out: NodeJS.WriteStream) {
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: out })
  const line = (text = ''): void => {
    out.write(`${text}\n`)
  }
  const roundLine = (round: number, text: string) => line(`  ${String(round).padStart(2)}  ${text}`)

  return {
    title: (text: string) => line(paint('bold', text)),

    half(name: string, description: string): void {
      line()
      line(`${paint('bold', name)}: ${description}`)
    },

    round: (round: number, text: string) => roundLine(round, text),

    end: (text: string) => line(`      ${paint('red', text)}`),

    activity(activity: Activity): void {
      switch (activity.type) {
        case 'turn-started':
        case 'call-finished':
          return
        case 'round-started': {
          const text = roundStartedText(activity)
          if (text !== undefined) roundLine(activity.round, paint('yellow', text))
          return
        }
        case 'call-rejected':
          return roundLine(activity.round, callRejectedText(activity))
        case 'intervention-raised':
          if (!activity.shadow) line(`      ${paint('yellow', interventionText(activity))}`)
          return
        case 'tool-started':
          return roundLine(activity.round, `${onOneLine(activity.name)} started`)
        case 'turn-finished':
          line(`      ${paint('green', `${activity.outcome}:`)}`)
          for (const words of wrapped(onOneLine(activity.reply), 72)) line(`      ${words}`)
      }
    },

    comparison(plain: Half, weir: Half): void {
      const rows: [string, string | number, string | number][] = [
        ['', 'without Weir', 'with Weir'],
        ['rounds', plain.rounds, weir.rounds],
        ['model requests', plain.requests, weir.requests],
        ['tokens (4 characters each)', plain.tokens, weir.tokens],
        ['tool starts', plain.toolStarts, weir.toolStarts],
      ]
      line()
      for (const [name, left, right] of rows)
        line(`  ${name.padEnd(28)}${String(left).padStart(14)}${String(right).padStart(14)}`)
      line()
      line(`  without Weir it was ${plain.end}`)
      line(`  with Weir it ended ${weir.end}`)
    },

    /** `keptIn`: the data folder with the demo's log. */
    next(bad: BadModel, keptIn: string | undefined): void {
      line()
      line('Next:')
      const steps = stepsBehind(bad, keptIn)
      const width = Math.max(...steps.map(([command]) => command.length))
      for (const [command, purpose] of steps)
        line(`  ${printable(command.padEnd(width))}   ${paint('dim', purpose)}`)
    },

    nextOverStages(bad: BadModel, conversation: ConversationId): void {
      line()
      line('Next:')
      if (bad === 'reflex') line('  docker compose run --rm demo --bad stubborn')
      else line('  docker compose run --rm demo')
      line('  docker compose up --wait --scale validator=3')
      line(`  docker compose exec validator weir inspect ${conversation}`)
    },
  }
}

/** A command and its purpose. */
type Step = [command: string, purpose: string]

/** In a useful order for an operator. */
function stepsBehind(bad: BadModel, keptIn: string | undefined): Step[] {
  const weir = ownCommand(process.env, process.cwd())
  const other: Step =
    bad === 'reflex'
      ? [`${weir} demo --bad stubborn`, 'the demo with a model that ignores even the intervention']
      : [`${weir} demo`, 'the demo with a model that obeys the intervention']
  return [
    ...(keptIn === undefined ? [] : stepsWithLog(weir, shellWord(keptIn))),
    other,
    ...(keptIn === undefined
      ? [
          [
            `${weir} demo --data-folder demo-log`,
            'the demo with its log kept, to inspect, export and replay',
          ] satisfies Step,
        ]
      : []),
    [`${weir} demo-model --agent demo-agent.yaml`, 'serve this model for weir ask, without a key'],
    ...(isCheckout
      ? stepsInCheckout
      : [[`${weir} init my-agent`, 'create an agent file and tools to start from'] satisfies Step]),
  ]
}

function stepsWithLog(weir: string, folder: string): Step[] {
  return [
    [`${weir} inspect demo --data-folder ${folder}`, 'show each round, call and verdict'],
    [`${weir} export --data-folder ${folder} -o demo.weir`, 'write everything to one file'],
    [`${weir} replay demo.weir`, 'make every decision again and compare'],
    [`${weir} replay demo.weir --set loop.identicalFailures=2`, 'the same with another threshold'],
    [`${weir} report demo.weir -o demo.html`, 'write a page for a browser'],
  ]
}

const stepsInCheckout: Step[] = [
  ['make test', 'run all tests'],
  ['docs/architecture.md', 'follow one call through the files'],
]
