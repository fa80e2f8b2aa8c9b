#!/usr/bin/env node
// The commands of the npm package, `weir` and `weir-agents`. bin/weir is the command of a checkout.
// This file is plain JavaScript and imports only modules of every Node.js version: an old one can
// then print a clear error.

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

// node:sqlite announces itself as experimental on some versions. This suppresses that kind of
// warning and no other.
const { emitWarning } = process
process.emitWarning = (warning, ...kind) => {
  if (kind[0] !== 'ExperimentalWarning') emitWarning.call(process, warning, ...kind)
}

// The compile cache saves two thirds of the start. Without a writable folder nothing is stored. The
// folder is not Node's default, the one for temporary files: other users may write there, and
// cached code is executed. Services do not use it: Node writes hundreds of files at exit. A fleet
// that stops together would wait for the disk beyond its time limit.
const [command, subcommand] = process.argv.slice(2)
const isService = command === 'up' || (command === 'guard' && subcommand === 'run')
const cache = isService ? undefined : cacheFolder()
if (cache !== undefined)
  module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE ?? join(cache, 'weir-agents'))

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

/** Undefined for a user without a home folder. */
function cacheFolder() {
  try {
    return process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  } catch {
    return undefined
  }
}
