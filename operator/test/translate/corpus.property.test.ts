import { expect } from "chai";
import { kindOf } from "../../src/api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../../src/api/object.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld, emptyWorld, updateWorld, type World, type WorldChange } from "../../src/world.ts";
import { createRandom, readCorpus, seed, shuffled, type CorpusCase } from "./corpus.ts";

const optionsOf = ({ nowMs, ownPorts }: CorpusCase) => ({ ownPorts, ...(nowMs !== undefined && { nowMs }) });

/** The same world and settings as objects that nothing can be remembered for. */
const fromScratch = (world: World, one: CorpusCase) =>
  translate(structuredClone(world), structuredClone(one.settings), optionsOf(one));

const removal = ({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): WorldChange => {
  const known = kindOf(apiVersion, kind);
  if (known === undefined) throw new Error(`the corpus holds a ${kind}, which no world has`);
  return { type: "delete", kind: known, name, ...(namespace !== undefined && { namespace }) };
};

const addition = (object: KubeObject): WorldChange => ({ type: "apply", object });

/** Applies an equal copy of an object, as a resync of the API server does. */
const again = (object: KubeObject): WorldChange => addition(structuredClone(object));

describe("the translation of every golden case", function () {
  this.timeout(120_000);
  const corpus = readCorpus();

  it("the translation of every golden case is the same in any order of objects", () => {
    const random = createRandom(seed);
    for (const one of corpus) {
      const expected = fromScratch(createWorld(one.objects), one);
      const found = fromScratch(createWorld(shuffled(one.objects, random)), one);
      expect(found, one.name).to.deep.equal(expected);
    }
  });

  it("the translation of every golden case, built up object by object, equals the one from scratch", () => {
    const random = createRandom(seed + 1);
    for (const one of corpus) {
      const settings = structuredClone(one.settings);
      let world = emptyWorld;
      for (const object of shuffled(one.objects, random)) {
        world = updateWorld(world, [addition(object)]);
        const translation = translate(world, settings, optionsOf(one));
        expect(translation, `${one.name}: with ${nameOf(refOf(object))}`).to.deep.equal(
          fromScratch(world, one),
        );
      }
    }
  });

  it("the translation of every golden case, after objects are removed, restored or sent again, equals the one from scratch", () => {
    const random = createRandom(seed + 2);
    for (const one of corpus) {
      const settings = structuredClone(one.settings);
      const whole = createWorld(one.objects);
      translate(whole, settings, optionsOf(one));
      let world = whole;
      const check = (changes: readonly WorldChange[], what: string): void => {
        world = updateWorld(world, changes);
        const translation = translate(world, settings, optionsOf(one));
        expect(translation, `${one.name}: ${what}`).to.deep.equal(fromScratch(world, one));
      };
      for (const object of shuffled(one.objects, random).slice(0, 3)) {
        const name = `${object.kind} ${nameOf(refOf(object))}`;
        check([removal(object)], `without ${name}`);
        check([addition(object)], `with ${name} again`);
        check([again(object)], `with ${name} sent again`);
      }
      for (const object of shuffled(one.objects, random)) world = updateWorld(world, [removal(object)]);
      check([], "without any object");
      check(one.objects.map(again), "with all of them again");
    }
  });
});
