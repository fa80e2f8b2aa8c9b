// The output of the demo: both halves line by line as they happen, then one comparison. On
// a terminal, lines break between words. Colours only if the terminal supports them.

import { styleText } from 'node:util'
import type { Activity } from '../../client/edge/edge.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { onOneLine } from '../../shared/lib/text-cut.ts'
import { isCheckout, ownCommand, shellWord } from '../terminal/own-command.ts'
import { columnsOfOutput } from '../terminal/paint.ts'
import {
  callDeniedText,
  interventionText,
  roundStartedText,
} from '../terminal/text/activity-texts.ts'
import { printable } from '../terminal/text/printable.ts'
import { wrapped } from '../terminal/text/word-wrap.ts'
import type { LoopEnd } from './plain-loop.ts'
import type { BadModel } from './reflex-model.ts'

export type Play = LoopEnd & { requests: number }

export const incident = 'Incident I1: a model calls exec with {} and never gives it a command.'
export const plainLoop = 'a plain loop: ask the model, run what it calls, ask again'
export const atProxy = 'the plain loop again, with its base URL at weir proxy'

const behindRound = ' '.repeat(6)
/** With less space for it, a purpose stands below its command. */
const purposeColumnsMin = 24

export type Screen = ReturnType<typeof createScreen>

export function createScreen(out: NodeJS.WriteStream) {
  type Format = Parameters<typeof styleText>[0]
  const paint = (format: Format, text: string) => styleText(format, text, { stream: out })
  const columns = out.isTTY === true ? columnsOfOutput(out) : Number.POSITIVE_INFINITY
  const line = (text = ''): void => {
    out.write(`${text}\n`)
  }
  /** The text after `start`, broken between words. Further lines stand below the first. */
  const hanging = (start: string, text: string, format?: Format): void => {
    const parts = wrapped(text, columns - start.length)
    for (const [i, part] of parts.entries())
      line(
        `${i === 0 ? start : ' '.repeat(start.length)}${format === undefined ? part : paint(format, part)}`,
      )
  }
  const roundLine = (round: number, text: string, format?: Format) =>
    hanging(`  ${String(round).padStart(2)}  `, text, format)

  return {
    title: (text: string) => line(paint('bold', text)),

    half(name: string, description: string): void {
      line()
      line(`${paint('bold', name)}: ${description}`)
    },

    round: (round: number, text: string) => roundLine(round, text),

    end: (text: string) => hanging(behindRound, text, 'red'),

    activity(activity: Activity): void {
      switch (activity.type) {
        case 'turn-started':
        case 'call-finished':
          return
        case 'round-started': {
          const text = roundStartedText(activity)
          if (text !== undefined) roundLine(activity.round, text, 'yellow')
          return
        }
        case 'call-denied':
          return roundLine(activity.round, callDeniedText(activity))
        case 'intervention-raised':
          if (!activity.shadow) hanging(behindRound, interventionText(activity), 'yellow')
          return
        case 'tool-started':
          return roundLine(activity.round, `${onOneLine(activity.name)} started`)
        case 'turn-finished':
          line(`      ${paint('green', `${activity.outcome}:`)}`)
          for (const words of wrapped(onOneLine(activity.reply), 72)) line(`      ${words}`)
      }
    },

    /** `isClosed`: the request allows no call. */
    advised(request: number, { isClosed }: { isClosed: boolean }): void {
      const further = isClosed ? ', and allows no call' : ''
      roundLine(request, `the proxy adds the intervention${further}`, 'yellow')
    },

    /** `proxied` undefined: this demo has no such play. */
    comparison({ plain, weir, proxied }: { plain: Play; weir: Play; proxied?: Play }): void {
      const plays: [string, Play][] = [
        ['without Weir', plain],
        ['with Weir', weir],
        ...(proxied === undefined ? [] : [['at its proxy', proxied] satisfies [string, Play]]),
      ]
      const rows: [name: string, of: (play: Play) => number][] = [
        ['rounds', (play) => play.rounds],
        ['model requests', (play) => play.requests],
        ['tokens (4 characters each)', (play) => play.tokens],
        ['tool starts', (play) => play.toolStarts],
      ]
      const row = (name: string, cells: (string | number)[]) =>
        line(`  ${name.padEnd(28)}${cells.map((cell) => String(cell).padStart(14)).join('')}`)
      line()
      row(
        '',
        plays.map(([title]) => title),
      )
      for (const [name, of] of rows)
        row(
          name,
          plays.map(([, play]) => of(play)),
        )
      line()
      hanging('  ', `without Weir it was ${plain.end}`)
      hanging('  ', `with Weir it ended ${weir.end}`)
      if (proxied !== undefined) hanging('  ', `at its proxy it ended: ${proxied.end}`)
    },

    /** `keptIn`: the data folder with the demo's log. */
    next(bad: BadModel, keptIn: string | undefined): void {
      line()
      line('Next:')
      const steps = stepsBehind(bad, keptIn)
      const width = Math.max(...steps.map(([command]) => command.length))
      const isBeside = columns - width - 5 >= purposeColumnsMin
      for (const [command, purpose] of steps) {
        if (isBeside) hanging(`  ${printable(command.padEnd(width))}   `, purpose, 'dim')
        else {
          line(`  ${printable(command)}`)
          hanging(behindRound, purpose, 'dim')
        }
      }
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
  ['docs/internals/architecture.md', 'follow one call through the files'],
]
