// A tool for tests that behaves as its first argument says: node behave.mjs <how> [more]

import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, writeSync } from 'node:fs'

const [, , how, more] = process.argv

/** Starts itself again, with another behaviour and without the copy. */
const startAnother = (manners, stdio) => {
  const { TEST_COPY, ...env } = process.env
  return spawn(process.execPath, [process.argv[1], manners], { stdio, env })
}

const idle = () => setInterval(() => {}, 1_000)
/**
 * The output, and a copy for the test: while the tool runs, its pipe belongs to its parent.
 */
const write = (text) => {
  writeSync(1, text)
  if (process.env.TEST_COPY) appendFileSync(process.env.TEST_COPY, text)
}

async function input() {
  let text = ''
  process.stdin.setEncoding('utf8')
  for await (const chunk of process.stdin) text += chunk
  return text
}

switch (how) {
  case 'echo':
    process.stdout.write(await input())
    break
  case 'length':
    write(`${(await input()).length}`)
    break
  case 'environment':
    write(JSON.stringify(process.env))
    break
  case 'folder':
    write(process.cwd())
    break
  case 'need-command':
    await input()
    process.stderr.write("\nmissing 'command' parameter\nusage: exec\n")
    process.exitCode = 2
    break
  case 'throw':
    throw new TypeError('no such row')
  case 'fail-silently':
    process.exitCode = 3
    break
  case 'fail-on-stdout':
    process.stdout.write('quota exceeded\n')
    process.exitCode = 1
    break
  case 'deaf': // never reads its input, and ends
    process.stdin.destroy()
    write('did not listen')
    break
  case 'signal':
    process.kill(process.pid, more)
    idle()
    break
  case 'flood': {
    // Far more than any pipe or bound holds. Ends well only if somebody reads all of it.
    const line = `${'é'.repeat(1_023)}\n`
    for (let written = 0; written < Number(more); written += line.length) {
      if (!process.stdout.write(line))
        await new Promise((resolve) => process.stdout.once('drain', resolve))
    }
    break
  }
  case 'flood-errors':
    for (let line = 0; line < 20_000; line += 1) {
      if (!process.stderr.write(`line ${line} é\n`))
        await new Promise((resolve) => process.stderr.once('drain', resolve))
    }
    process.exitCode = 1
    break
  case 'bytes':
    writeSync(1, Buffer.from(more, 'hex'))
    break
  case 'hang':
    write('ready')
    idle()
    break
  case 'hang-closed': // closes its outputs, and stays
    write('almost')
    closeSync(1)
    closeSync(2)
    idle()
    break
  case 'stubborn':
    process.on('SIGTERM', () => writeSync(1, ', no'))
    write('ready')
    idle()
    break
  case 'polite': // finishes its work after SIGTERM
    process.on('SIGTERM', () => {
      writeSync(1, ', finished')
      process.exit(Number(more))
    })
    write('ready')
    idle()
    break
  case 'tree': {
    // A stubborn child and grandchild in the same group. Prints their process ids and continues.
    const child = startAnother('stubborn-parent', ['ignore', 'pipe', 'inherit'])
    child.stdout.once('data', (data) => write(`${child.pid} ${data}`))
    if (more === 'stubborn') process.on('SIGTERM', () => {})
    idle()
    break
  }
  case 'stubborn-parent': {
    process.on('SIGTERM', () => {})
    const grandchild = startAnother('stubborn', ['ignore', 'pipe', 'inherit'])
    grandchild.stdout.once('data', () => writeSync(1, `${grandchild.pid}`))
    idle()
    break
  }
  case 'leave-behind': {
    // Ends at once, but a child that it leaves holds its pipes open for a minute.
    const left = startAnother('hang-quietly', 'inherit')
    left.unref()
    write(`${left.pid}`)
    process.exit(0)
    break
  }
  case 'hang-quietly':
    setTimeout(() => {}, 60_000)
    break
  default:
    throw new Error(`cannot behave as ${how}`)
}
