// Apache Kafka's jars and Java. The jars come from Maven Central once a machine, into the user's
// cache folder. Several processes may fetch them at once.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const javaMin = 17
export const kafkaVersion = '4.3.1'

/**
 * The folder of the jars, which also keeps files that shorten a broker's start. The error names the
 * packages to install.
 */
export async function kafkaJars(): Promise<string> {
  await requireJava()
  return await jarFolder()
}

async function requireJava(): Promise<void> {
  const required = `Java ${javaMin} or newer, to run Apache Kafka ${kafkaVersion} for the tests (Debian: apt install openjdk-17-jre-headless)`
  try {
    const { stderr } = await run('java', ['-version'])
    const major = Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0)
    if (major < javaMin)
      throw new Error(`This is Java ${major || stderr.split('\n')[0]}; install ${required}.`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`There is no java; install ${required}.`, { cause: error })
  }
}

/** Filled under another name and then renamed, so an existing folder is always complete. */
async function jarFolder(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'weir')
  const folder = join(cache, `kafka-${kafkaVersion}`)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(`${folder}-`)
  try {
    await fetchJars(unfinished)
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error // otherwise another process was quicker
  }
  return folder
}

async function fetchJars(folder: string): Promise<void> {
  const pom = fileURLToPath(new URL('pom.xml', import.meta.url))
  try {
    await run('mvn', [
      '-q',
      '-B',
      '-f',
      pom,
      'dependency:copy-dependencies',
      `-DoutputDirectory=${folder}`,
      '-DincludeScope=runtime',
    ])
  } catch (error) {
    const failed = error as NodeJS.ErrnoException & { stdout?: string }
    const why =
      failed.code === 'ENOENT'
        ? 'There is no mvn; install Maven (Debian: apt install maven).'
        : `Maven could not fetch the jars of Apache Kafka ${kafkaVersion}: ${failed.stdout?.trim() || failed.message}`
    throw new Error(why, { cause: error })
  }
}
