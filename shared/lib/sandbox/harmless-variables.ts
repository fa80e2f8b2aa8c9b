// The environment variables that hold no secret, by their names.

/** Node, the loader and the terminal need these. */
const harmless =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|COLORTERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CI|TZ|LANG|LANGUAGE|TMPDIR|LC_\w+|XDG_\w+|NODE_\w+|LD_\w+|DYLD_\w+|UV_\w+|OPENSSL_CONF|SSL_CERT_\w+|WEIR_\w+)$/i
const telling = /AUTH|KEY|TOKEN|SECRET|PASS|CREDENTIAL|PROPERTY/i

export function isHarmless(name: string): boolean {
  return harmless.test(name) && !telling.test(name)
}

/** A program of Node may be a launcher of a version manager, which looks for the version with these. */
export const ofVersionManagers =
  /^(?!.*(TOKEN|KEY|SECRET|PASS))((ASDF|FNM|MISE|NODENV|NVM|VOLTA)_\w+|N_PREFIX|BUN_INSTALL|PNPM_HOME)$/

/** The variables with which a program reaches the desktop, also from WSL and from a remote VS Code. */
export const ofDesktop =
  /^(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|DBUS_SESSION_BUS_ADDRESS|BROWSER|SystemRoot|ComSpec|APPDATA|LOCALAPPDATA|USERPROFILE|WSL_DISTRO_NAME|WSL_INTEROP|WSLENV|VSCODE_IPC_HOOK_CLI|VSCODE_CLIENT_COMMAND|VSCODE_CLIENT_COMMAND_CWD|VSCODE_CLI_AUTHORITY|VSCODE_WSL_EXT_LOCATION)$/

/** The variables of the clients of secret stores. They hold secrets: no other program gets them. */
export const ofSecretStores =
  /^(VAULT|BAO|AWS|AZURE|GOOGLE|CLOUDSDK|OP|BW|BWS|DOPPLER|INFISICAL|SOPS|AGE|GNUPG|KUBERNETES)_\w+$|^(GNUPGHOME|GPG_TTY|KUBECONFIG|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|(https?|no)_proxy)$/i

/**
 * The environment of a program that is no tool and needs no key, such as a browser. `also`: the names
 * of further variables that the program needs.
 */
export function harmlessEnvironment(...also: readonly RegExp[]): NodeJS.ProcessEnv {
  const isSeen = (name: string) => isHarmless(name) || also.some((names) => names.test(name))
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isSeen(name)))
}
