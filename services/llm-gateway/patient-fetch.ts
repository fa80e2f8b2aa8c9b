// Node's fetch without its own deadlines: it gives up after five minutes without a byte, before the headers and between pieces of the body, and a
// local model may take longer than that to read a long prompt. How long to wait is the agent's to say (stallMs), and silence.ts keeps it.
//
// Node takes its deadlines from a dispatcher and exports none. The one that it uses stands under a symbol by which all versions of its HTTP client
// find each other, and another one of its kind is made with other options. Where that cannot be, the five minutes stay.

type DispatcherOptions = { headersTimeout: number; bodyTimeout: number }
type Dispatchers = new (options: DispatcherOptions) => NonNullable<RequestInit['dispatcher']>

/** `ms`: how long it waits for the headers, and for each next piece of the body; 0: for ever. Connections are kept for the fetch that is returned. */
export function fetchThatWaits(ms: number): typeof globalThis.fetch {
  const dispatcher = dispatcherWith({ headersTimeout: ms, bodyTimeout: ms })
  return dispatcher === undefined ? globalThis.fetch : (url, init) => globalThis.fetch(url, { ...init, dispatcher })
}

function dispatcherWith(options: DispatcherOptions): RequestInit['dispatcher'] | undefined {
  const inUse = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')]
  try {
    // One for a proxy that a program has set wants to know its address, which we do not: then it throws.
    return inUse instanceof Object ? new (inUse.constructor as Dispatchers)(options) : undefined
  } catch {
    return undefined
  }
}

/** One for the process, so that connections to a provider are used again. */
export const patientFetch: typeof globalThis.fetch = fetchThatWaits(0)
