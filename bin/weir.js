#!/usr/bin/env node
// The commands of the npm package, `weir` and `weir-agents`; bin/weir is the one of a checkout. It
// is plain JavaScript that imports nothing but what every Node.js has, so that one that is too old
// can say so.

import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const program = new URL('../dist/apps/cli/main.js', import.meta.url)
const needed = engines.node.replace('>=', '')
if (isOlder(process.versions.node, needed))
  fail(
    `Node.js ${needed} or newer is needed, and this is ${process.versions.node}: install a newer one (https://nodejs.org).`,
  )
if (!existsSync(program)) fail('this is a checkout, which has no compiled code: run its bin/weir.')

// node:sqlite announces itself as experimental on some versions; this silences that kind of warning
// and no other.
const { emitWarning } = process
process.emitWarning = (warning, ...kind) => {
  if (kind[0] !== 'ExperimentalWarning') emitWarning.call(process, warning, ...kind)
}

// What Node compiled once it need not compile again: two thirds of a start. Where nothing can be
// written, nothing is kept. Not in the folder for temporary files, which is Node's own choice:
// others may write there, and what is kept is run. Not for services: Node writes what it keeps when
// it ends, hundreds of files, and a fleet that is stopped together would wait for the disk for
// longer than it is given.
const [command, subcommand] = process.argv.slice(2)
const isService = command === 'up' || (command === 'guard' && subcommand === 'run')
const cache = isService ? undefined : cacheFolder()
if (cache !== undefined)
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(cache, 'weir-agents'))

void import(program)

function fail(reason) {
  console.error(`weir: ${reason}`)
  process.exit(1)
}

function isOlder(version, minimum) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = minimum.split('.').map(Number)
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}

/** Undefined for a user who has no home. */
function cacheFolder() {
  try {
    return process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  } catch {
    return undefined
  }
}
