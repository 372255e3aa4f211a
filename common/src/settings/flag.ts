import type { Result } from "../values/result.ts";

/** The three ways to run: `serve controller`, `serve proxy`, `serve standalone`. */
export type Role = "controller" | "proxy" | "standalone";

export const roles: readonly Role[] = ["controller", "proxy", "standalone"];

/** The conversion of the text of a flag to a value. `Unit` ends the name of the setting: `Ms`, `Bytes` or nothing. */
export type FlagType<Value = unknown, Unit extends string = string> = {
  /** The name of the form in the help text, as in `--admin-port <port>`. */
  readonly name: string;
  readonly unit: Unit;
  /** The text that follows "expected" in an error. */
  readonly expected: string;
  parse(text: string): Result<Value, unknown>;
  /** Describes the mistake in a text, if `expected` does not show which part of it is wrong. */
  explain?(text: string): string | undefined;
  /** Writes a value in the form that the flag accepts. */
  format(value: Value): string;
  /** Whether the flag is a switch, which can be given without a value to mean true. */
  readonly isSwitch?: true;
  /** Whether the flag can be given several times; the texts are then joined by commas, as in a variable. */
  readonly isRepeatable?: true;
  /** Whether an empty text is a value; otherwise an empty variable counts as unset. */
  readonly acceptsEmpty?: true;
  /** All texts that the flag accepts, if they are a few words. */
  readonly choices?: readonly string[];
  /** Whether the text is the name of a file or folder. */
  readonly isPath?: true;
};

/**
 * A flag as data, from which the parser, the types of the settings, the help text and docs/reference/flags.md are
 * derived. Its environment variable is `SVC_A_B` for `--a-b`, unless `variable` names another one.
 */
export type Flag<
  Name extends string = string,
  Value = unknown,
  Unit extends string = string,
  For extends Role = Role,
> = {
  readonly name: Name;
  /** The letter of the short form of the flag, such as `o` for `-o`. */
  readonly short?: string;
  readonly type: FlagType<Value, Unit>;
  readonly roles: readonly For[];
  /** One sentence or phrase for help and documentation. */
  readonly meaning: string;
  readonly variable?: string;
  /** A second variable, read when the first is unset. */
  readonly fallbackVariable?: string;
  /** The value if the flag is not set. */
  readonly defaultValue?: Value;
  /** The default in the standalone role, if it differs. */
  readonly standaloneDefault?: Value;
  /** The default as shown by help and documentation, if the plain value is not self-explanatory. */
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

/** Declares a flag whose setting is undefined if it is not set. */
export const optionalFlag = <const Name extends string, Value, Unit extends string, For extends Role>(
  declaration: Declaration<Name, Value, Unit, For>,
): Flag<Name, Value | undefined, Unit, For> => declaration as Flag<Name, Value | undefined, Unit, For>;

/** Declares a required flag. */
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
