import type { Result } from "../values/result.ts";

/** The three ways to run: `serve controller`, `serve proxy`, `serve standalone`. */
export type Role = "controller" | "proxy" | "standalone";

export const roles: readonly Role[] = ["controller", "proxy", "standalone"];

/** How the text of a flag becomes a value. `Unit` ends the name of the setting: `Ms`, `Bytes` or nothing. */
export type FlagType<Value = unknown, Unit extends string = string> = {
  /** Names the form in the help text, as in `--admin-port <port>`. */
  readonly name: string;
  readonly unit: Unit;
  /** Completes "expected ..." in an error. */
  readonly expected: string;
  parse(text: string): Result<Value, unknown>;
  /** What is wrong with a text, where `expected` does not say which part of it. */
  explain?(text: string): string | undefined;
  /** Writes a value the way the flag takes it. */
  format(value: Value): string;
  /** A switch may be given without a value, which means true. */
  readonly isSwitch?: true;
  /** The flag may be given several times: the texts are joined by commas, as a variable holds them. */
  readonly isRepeatable?: true;
  /** An empty text is a value of its own; elsewhere an empty variable counts as unset. */
  readonly acceptsEmpty?: true;
  /** All texts that the flag takes, where they are a few words. */
  readonly choices?: readonly string[];
  /** The text is the name of a file or folder. */
  readonly isPath?: true;
};

/**
 * A flag as data. The parser, the types of the settings, the help text and docs/reference/flags.md follow from it.
 * Its environment variable is `SVC_A_B` for `--a-b`, unless `variable` names another one.
 */
export type Flag<
  Name extends string = string,
  Value = unknown,
  Unit extends string = string,
  For extends Role = Role,
> = {
  readonly name: Name;
  /** One letter: the flag may be given as `-o` as well. */
  readonly short?: string;
  readonly type: FlagType<Value, Unit>;
  readonly roles: readonly For[];
  /** One sentence or phrase for help and documentation. */
  readonly meaning: string;
  readonly variable?: string;
  /** A second variable, read when the first is unset. */
  readonly fallbackVariable?: string;
  /** The value where nothing is given. */
  readonly defaultValue?: Value;
  /** Where the standalone role has a default of its own. */
  readonly standaloneDefault?: Value;
  /** What help and documentation show as default where the plain value would not explain itself. */
  readonly shownDefault?: string;
  readonly isRequired?: true;
};

type Declaration<Name, Value, Unit extends string, For> = {
  readonly name: Name;
  readonly short?: string;
  readonly type: FlagType<Value, Unit>;
  readonly roles: readonly For[];
  readonly meaning: string;
  readonly variable?: string;
  readonly fallbackVariable?: string;
  readonly shownDefault?: string;
};

/** Declares a flag with a default. */
export const flag = <const Name extends string, Value, Unit extends string, For extends Role>(
  declaration: Declaration<Name, Value, Unit, For> & {
    readonly defaultValue: NoInfer<Value>;
    readonly standaloneDefault?: NoInfer<Value>;
  },
): Flag<Name, Value, Unit, For> => declaration;

/** Declares a flag whose setting is undefined where nothing is given. */
export const optionalFlag = <const Name extends string, Value, Unit extends string, For extends Role>(
  declaration: Declaration<Name, Value, Unit, For>,
): Flag<Name, Value | undefined, Unit, For> => declaration as Flag<Name, Value | undefined, Unit, For>;

/** Declares a flag that must be given. */
export const requiredFlag = <const Name extends string, Value, Unit extends string, For extends Role>(
  declaration: Declaration<Name, Value, Unit, For>,
): Flag<Name, Value, Unit, For> => ({ ...declaration, isRequired: true });

/** The environment variable that sets a flag. */
export function variableOf({ name, variable }: Pick<Flag, "name" | "variable">): string {
  return variable ?? `SVC_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The default of a flag in a role, or undefined. */
export function defaultIn(flagOfRole: Flag, role: Role): unknown {
  return role === "standalone" && flagOfRole.standaloneDefault !== undefined
    ? flagOfRole.standaloneDefault
    : flagOfRole.defaultValue;
}
