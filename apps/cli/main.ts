// The entry of every command. Cleans the environment before it loads the program, because that may
// start the process again. The help of weir needs no program and starts nothing.

import { endOnEarlySignal } from '../terminal/early-signals.ts'
import { cleanEnvironment } from './clean-environment.ts'
import { asksForTopHelp, topHelp } from './top-help.ts'

const words = process.argv.slice(2)
if (asksForTopHelp(words)) printHelp()
else {
  if (isService(words)) endOnEarlySignal()
  cleanEnvironment()
  await (await import('./program.ts')).runProgram(words)
}

/** A command that ends with 0 at a signal. */
function isService([command, subcommand]: readonly string[]): boolean {
  return command === 'up' || (command === 'guard' && subcommand === 'run')
}

function printHelp(): void {
  const { stdout } = process
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error // the reader has enough: `weir --help | head`
  })
  stdout.write(topHelp(stdout.isTTY ? stdout.columns : undefined))
}
