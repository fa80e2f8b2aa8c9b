// The environment variables that hold no secret, by their names.

/** Node, the loader and the terminal need these. */
const harmless =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|COLORTERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CI|TZ|LANG|LANGUAGE|TMPDIR|LC_\w+|XDG_\w+|NODE_\w+|LD_\w+|DYLD_\w+|UV_\w+|OPENSSL_CONF|SSL_CERT_\w+|WEIR_\w+)$/i
const telling = /AUTH|KEY|TOKEN|SECRET|PASS|CREDENTIAL|PROPERTY/i

export function isHarmless(name: string): boolean {
  return harmless.test(name) && !telling.test(name)
}

/**
 * The environment of a program that is no tool and needs no key, such as a browser. `also`: the names
 * of further variables that the program needs.
 */
export function harmlessEnvironment(also: readonly string[] = []): NodeJS.ProcessEnv {
  const isSeen = (name: string) => isHarmless(name) || also.includes(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isSeen(name)))
}
