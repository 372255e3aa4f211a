import operatorModule, { type OperatorLogger, type ResourceEvent } from "@dot-i/k8s-operator";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { nameOf, refOf, type KubeObject } from "../api/object.ts";
import { type ApiClient, describeApiError } from "../sources/kubernetes/api-client.ts";
import { createOutageLog } from "../sources/kubernetes/outage-log.ts";
import { runReflector } from "../sources/kubernetes/reflector.ts";

/** The interface of the operator for the work that it runs. */
export type OperatorShell = {
  /** Aborts when the operator is stopped. */
  readonly signal: AbortSignal;
  /** Follows a collection until the operator is stopped. Its objects are passed as events, sequentially. */
  watch(resource: WatchedResource, onEvent: (event: ResourceEvent) => Promise<void>): Promise<void>;
};

export type WatchedResource = {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Called when the events of a list have been handled; from the first call on, all objects are known. */
  readonly onListed?: () => void;
};

export type OperatorShellOptions = {
  readonly config: KubeConfig;
  readonly client: ApiClient;
  readonly log: Logger;
  /** Starts the work; anything that continues afterwards must end with the signal of the shell. */
  readonly init: (shell: OperatorShell) => Promise<void>;
};

/** The lifecycle of an operator: `start` runs its `init`, `stop` ends the work that has begun. */
export type RunningOperator = { start(): Promise<void>; stop(): void };

/** Creates an operator. See docs/adr/0010-operator-shell.md for the parts of the base class that are used. */
export const createOperatorShell = (options: OperatorShellOptions): RunningOperator =>
  new ReflectingOperator(options);

// The package is CommonJS with its own default export: Node returns the whole module.
const { default: Operator, ResourceEventType, ResourceMetaImpl } = operatorModule;

/** An operator that watches through reflectors: errors of a watch never end the process, and no deletion is missed. */
class ReflectingOperator extends Operator {
  readonly #options: OperatorShellOptions;
  readonly #stop = new AbortController();

  constructor(options: OperatorShellOptions) {
    super(operatorLogger(options.log));
    this.#options = options;
    this.kubeConfig = options.config;
  }

  override stop(): void {
    this.#stop.abort();
  }

  protected override init(): Promise<void> {
    return this.#options.init({
      signal: this.#stop.signal,
      watch: (resource, onEvent) => this.#follow(resource, onEvent),
    });
  }

  protected override watchResource(
    group: string,
    version: string,
    plural: string,
    onEvent: (event: ResourceEvent) => Promise<void>,
    namespace?: string,
  ): Promise<void> {
    return this.#follow({ group, version, plural, ...(namespace !== undefined && { namespace }) }, onEvent);
  }

  #follow(
    { group, version, plural, namespace, labelSelector, onListed }: WatchedResource,
    onEvent: (event: ResourceEvent) => Promise<void>,
  ): Promise<void> {
    const { client, log } = this.#options;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const base = group === "" ? `/api/${version}` : `/apis/${apiVersion}`;
    const held = new Map<string, KubeObject>();
    const outage = createOutageLog(log, "watch", {
      resource: plural,
      ...(labelSelector && { labelSelector }),
    });
    let tail = Promise.resolve();
    const emit = (type: ResourceEvent["type"], json: KubeObject): void => {
      // The object is plain JSON, whereas the client's types have dates.
      const object = json as unknown as ResourceEvent["object"];
      const meta = ResourceMetaImpl.createWithPlural(plural, object);
      tail = tail
        .then(() => onEvent({ meta, type, object }))
        .catch((error: unknown) => log.error({ resource: plural, err: error }, "watch callback threw"));
    };
    const apply = (object: KubeObject): void => {
      const name = nameOf(refOf(object));
      const known = held.get(name);
      held.set(name, object);
      if (known === undefined) emit(ResourceEventType.Added, object);
      else if (known.metadata.resourceVersion !== object.metadata.resourceVersion) {
        emit(ResourceEventType.Modified, object);
      }
    };
    const drop = (name: string): void => {
      const known = held.get(name);
      held.delete(name);
      if (known !== undefined) emit(ResourceEventType.Deleted, known);
    };
    return runReflector({
      client,
      path: namespace === undefined ? `${base}/${plural}` : `${base}/namespaces/${namespace}/${plural}`,
      apiVersion,
      kind: plural,
      ...(labelSelector !== undefined && { labelSelector }),
      signal: this.#stop.signal,
      events: {
        onList(objects) {
          const present = new Set(objects.map((object) => nameOf(refOf(object))));
          for (const name of [...held.keys()]) if (!present.has(name)) drop(name);
          for (const object of objects) apply(object);
          tail = tail.then(onListed);
          outage.works();
        },
        onOpen: outage.works,
        onApply: apply,
        onDelete: (object) => drop(nameOf(refOf(object))),
        onRestart: () => {},
        onError: (error) => outage.failed({ error: describeApiError(error) }),
      },
    });
  }
}

/** Adapts the logger to the base class, which logs formatted texts. */
const operatorLogger = (log: Logger): OperatorLogger => ({
  debug: (message) => log.debug({}, message),
  info: (message) => log.info({}, message),
  warn: (message) => log.warn({}, message),
  error: (message) => log.error({}, message),
});
