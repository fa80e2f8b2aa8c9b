// Runs a command that writes a bundle. Ctrl-C and errors leave no file.

import { type BundleWriter, createBundle } from '../../shared/bus/bundle/writer.ts'
import { listenForInterrupts } from '../terminal/interrupts.ts'

/**
 * `make` fills and finishes the bundle and returns the text to print. It returns undefined or throws
 * if `signal` aborted. Resolves to the exit code, 130 after Ctrl-C. Throws `output.exists`,
 * `output.unwritable`, and the errors of `make`.
 */
export async function makeBundle(
  { output, force = false }: { output: string; force?: boolean | undefined },
  out: NodeJS.WriteStream,
  make: (bundle: BundleWriter, signal: AbortSignal) => Promise<string | undefined>,
): Promise<0 | 130> {
  const bundle = createBundle(output, { force })
  const stop = new AbortController()
  const stopListening = listenForInterrupts(() => stop.abort())
  try {
    const summary = await make(bundle, stop.signal)
    if (summary === undefined) return stopped(bundle)
    out.write(summary)
    return 0
  } catch (error) {
    if (stop.signal.aborted) return stopped(bundle)
    bundle.abandon()
    throw error
  } finally {
    stopListening()
  }
}

function stopped(bundle: BundleWriter): 130 {
  bundle.abandon()
  process.stderr.write('stopped: nothing was written\n')
  return 130
}
