// Drives `pendula dap` with the client library of the protocol's authors, request by request. With the protocol's JSON schema, all answers and events are
// compared with it.
//   npm ci && node drive.cjs PENDULA REPOSITORY [SCHEMA]
const { DebugClient } = require('@vscode/debugadapter-testsupport');
const assert = require('assert');
const path = require('path');
const fs = require('fs');
const os = require('os');

const [pendula, folder, schemaFile] = process.argv.slice(2).map((name) => path.resolve(name));
let validate = null;
if (schemaFile) {
  const Ajv = require('ajv');
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
  const schema = JSON.parse(fs.readFileSync(schemaFile, 'utf8'));
  delete schema.$schema;
  ajv.addSchema(schema, 'dap');
  validate = (name, message) => {
    if (!schema.definitions[name]) throw new Error(`the protocol has no ${name}`);
    const check = ajv.getSchema(`dap#/definitions/${name}`);
    if (!check(message)) throw new Error(`${name}: ${ajv.errorsText(check.errors)}\n${JSON.stringify(message)}`);
  };
}
const used = new Set();
const capital = (s) => s[0].toUpperCase() + s.slice(1);

async function session(program, more, body) {
  const client = new DebugClient(pendula, 'dap', 'pendula');
  client.defaultTimeout = 20000;
  const send = client.send.bind(client);
  const problems = [];
  client.send = async (command, args, timeout) => {
    used.add(command);
    const response = await send(command, args, timeout);
    if (validate) validate(`${capital(command)}Response`, response);
    return response;
  };
  const emit = client.emit.bind(client);
  client.emit = (name, message) => {
    if (validate && message && message.type === 'event') {
      try { validate(`${capital(message.event)}Event`, message); } catch (e) { problems.push(e); }
    }
    return emit(name, message);
  };
  await client.start();
  try {
    await body(client, { program, ...more });
  } finally {
    await client.stop().catch(() => {});
  }
  if (problems.length) throw problems[0];
}

async function top(client) {
  const { stackFrames } = (await client.stackTraceRequest({ threadId: 1 })).body;
  return stackFrames[0];
}
async function move(client, command, args = {}) {
  const [stopped] = await Promise.all([client.waitForEvent('stopped'), client.send(command, { threadId: 1, ...args })]);
  return [stopped.body.reason, (await top(client)).line];
}
async function locals(client) {
  const frame = await top(client);
  const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body;
  const out = {};
  for (const scope of scopes) {
    const { variables } = (await client.variablesRequest({ variablesReference: scope.variablesReference })).body;
    for (const v of variables) out[v.name] = { ...v, scope: scope.variablesReference };
  }
  return out;
}

async function assembly() {
  const program = path.join(folder, 'examples/fib.rasm');
  await session(program, { set: ['n=8'] }, async (client, launch) => {
    const capabilities = (await client.initializeRequest()).body;
    assert(capabilities.supportsStepBack && capabilities.supportsDataBreakpoints);
    await Promise.all([client.waitForEvent('initialized'), client.launchRequest({ ...launch, stopOnEntry: true })]);
    const set = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 30 }, { line: 31, condition: 'r4 == 3' }, { line: 32, hitCondition: '4' }] });
    assert.deepStrictEqual(set.body.breakpoints.map((b) => [b.verified, b.line]), [[true, 30], [true, 31], [true, 32]]);
    await client.setExceptionBreakpointsRequest({ filters: ['trap'] });
    const [entry] = await Promise.all([client.waitForEvent('stopped'), client.configurationDoneRequest()]);
    assert.strictEqual(entry.body.reason, 'entry');
    assert.strictEqual((await client.threadsRequest()).body.threads.length, 1);
    assert.deepStrictEqual(await move(client, 'continue'), ['breakpoint', 30]);
    assert.deepStrictEqual(await move(client, 'next'), ['step', 31]);
    assert.deepStrictEqual(await move(client, 'stepIn'), ['step', 32]);
    assert.deepStrictEqual(await move(client, 'stepBack'), ['step', 31]);
    assert.deepStrictEqual(await move(client, 'reverseContinue'), ['breakpoint', 30]);
    // The condition, then the fourth hit of the third.
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 31, condition: 'r4 == 3' }, { line: 32, hitCondition: '6' }] });
    assert.deepStrictEqual(await move(client, 'continue'), ['breakpoint', 31]);
    assert.strictEqual((await locals(client)).r4.value, '3');
    assert.deepStrictEqual(await move(client, 'continue'), ['breakpoint', 32]);
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
    // Data breakpoints.
    const info = (await client.send('dataBreakpointInfo', { name: 'r4' })).body;
    await client.send('setDataBreakpoints', { breakpoints: [{ dataId: info.dataId }] });
    assert.deepStrictEqual((await move(client, 'reverseContinue'))[0], 'data breakpoint');
    await client.send('setDataBreakpoints', { breakpoints: [] });
    // Instructions.
    const frame = await top(client);
    const code = (await client.send('disassemble', { memoryReference: frame.instructionPointerReference, instructionOffset: -3, instructionCount: 7 })).body.instructions;
    assert.strictEqual(code.length, 7);
    await client.send('setInstructionBreakpoints', { breakpoints: [{ instructionReference: code[3].address }] });
    assert.deepStrictEqual((await move(client, 'continue'))[0], 'instruction breakpoint');
    await client.send('setInstructionBreakpoints', { breakpoints: [] });
    assert.deepStrictEqual((await move(client, 'next', { granularity: 'instruction' }))[0], 'step');
    // Values.
    const evaluated = (await client.evaluateRequest({ expression: 'r1 + r2 * 2', frameId: frame.id, context: 'watch' })).body;
    assert.match(evaluated.result, /^\d+$/);
    const r4 = (await locals(client)).r4;
    const changed = (await client.setVariableRequest({ variablesReference: r4.scope, name: 'r4', value: '2' })).body;
    assert.strictEqual(changed.value, '2');
    await client.send('setExpression', { expression: 'r4', value: r4.value });
    const memory = (await client.send('readMemory', { memoryReference: '0x0', count: 8 })).body;
    assert.strictEqual(Buffer.from(memory.data, 'base64')[0], 8);
    // Places.
    const targets = (await client.send('gotoTargets', { source: { path: program }, line: 33 })).body.targets;
    assert(targets.length > 0);
    assert.deepStrictEqual(await move(client, 'goto', { targetId: targets[0].id }), ['goto', 33]);
    assert((await client.send('breakpointLocations', { source: { path: program }, line: 25, endLine: 35 })).body.breakpoints.length > 5);
    assert((await client.send('loadedSources')).body.sources.some((s) => s.path === program || s.name === 'fib.rasm'));
    assert((await client.send('source', { source: { path: program }, sourceReference: 0 })).body.content.includes('swap'));
    assert((await client.send('completions', { text: 'inf', column: 4, frameId: frame.id })).body.targets.length > 0);
    const console_ = (await client.evaluateRequest({ expression: 'info counts', context: 'repl' })).body.result;
    assert.match(console_, /cycles/);
    await Promise.all([client.waitForEvent('stopped'), client.send('restart', {})].concat([client.waitForEvent('initialized').then(() => client.configurationDoneRequest())]));
    await Promise.all([client.waitForEvent('terminated'), client.send('terminate', {})]);
  });
}

// The loop that undoes begins one element too late.
const WRONG = `@i function mean(m!, x)
    s ← 0.0
    for i = 1:length(x)
        s += x[i]
    end
    m! += s / length(x)
    for i = 2:length(x)
        s -= x[i]
    end
    s → 0.0
end
`;

async function trap() {
  const program = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'pendula-dap-')), 'wrong.nil');
  fs.writeFileSync(program, WRONG);
  await session(program, { args: '0.0,[1.0,2.0,6.0]' }, async (client, launch) => {
    await client.initializeRequest();
    await Promise.all([client.waitForEvent('initialized'), client.launchRequest(launch)]);
    const functions = (await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'mean' }, { name: 'nothing' }] })).body.breakpoints;
    assert.deepStrictEqual(functions.map((b) => b.verified), [true, false]);
    await client.setExceptionBreakpointsRequest({ filters: ['trap'] });
    const [first] = await Promise.all([client.waitForEvent('stopped'), client.configurationDoneRequest()]);
    assert.strictEqual(first.body.reason, 'function breakpoint');
    const [reason] = await move(client, 'continue');
    assert.strictEqual(reason, 'exception');
    const why = (await client.send('exceptionInfo', { threadId: 1 })).body;
    assert.match(why.description, /it is deallocated with/);
    assert.strictEqual((await locals(client)).s.value, '1.0');
    await move(client, 'stepBack');
    await move(client, 'stepBack');
    const array = (await locals(client)).x;
    const words = (await client.variablesRequest({ variablesReference: array.variablesReference, filter: 'indexed', start: 1, count: 2 })).body.variables;
    assert.deepStrictEqual(words.map((w) => w.value), ['2.0', '6.0']);
    await assert.rejects(client.evaluateRequest({ expression: 'nothing + 1', context: 'watch' }));
  });
}

async function calls() {
  const program = path.join(folder, 'examples/fib.ja');
  await session(program, {}, async (client, launch) => {
    await client.initializeRequest();
    await Promise.all([client.waitForEvent('initialized'), client.launchRequest({ ...launch, stopOnEntry: true })]);
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 4 }] });
    await Promise.all([client.waitForEvent('stopped'), client.configurationDoneRequest()]);
    await move(client, 'continue');
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
    assert((await client.stackTraceRequest({ threadId: 1 })).body.stackFrames.length >= 2);
    // Variables of outer calls are those at their calls.
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 5, condition: 'n == 0' }] });
    await move(client, 'continue');
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
    const { stackFrames } = (await client.stackTraceRequest({ threadId: 1 })).body;
    const values = [];
    for (const frame of stackFrames.slice(0, 4)) {
      const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body;
      const { variables } = (await client.variablesRequest({ variablesReference: scopes[0].variablesReference })).body;
      values.push(variables.find((v) => v.name === 'n').value);
      assert.strictEqual((await client.evaluateRequest({ expression: 'n + 1', frameId: frame.id })).body.result, String(Number(values.at(-1)) + 1));
    }
    assert.deepStrictEqual(values, ['0', '0', '1', '2']);
    const { scopes } = (await client.scopesRequest({ frameId: stackFrames[3].id })).body;
    await assert.rejects(client.setVariableRequest({ variablesReference: scopes[0].variablesReference, name: 'n', value: '7' }));
    await move(client, 'stepOut');
    assert((await client.stackTraceRequest({ threadId: 1 })).body.stackFrames.length < stackFrames.length);
  });
}

async function long() {
  const program = path.join(folder, 'examples/fib.rasm');
  await session(program, { set: ['n=9000000000000'] }, async (client, launch) => {
    await client.initializeRequest({ adapterID: 'pendula', pathFormat: 'path', supportsProgressReporting: true });
    await Promise.all([client.waitForEvent('initialized'), client.launchRequest(launch)]);
    const [started] = await Promise.all([client.waitForEvent('progressStart'), client.configurationDoneRequest()]);
    await client.waitForEvent('progressUpdate');
    let begun = Date.now();
    await Promise.all([client.waitForEvent('stopped'), client.waitForEvent('progressEnd'), client.send('cancel', { progressId: started.body.progressId })]);
    console.log(`cancel took ${Date.now() - begun} ms`);
    await client.continueRequest({ threadId: 1 });
    begun = Date.now();
    await Promise.all([client.waitForEvent('stopped'), client.pauseRequest({ threadId: 1 })]);
    console.log(`pause took ${Date.now() - begun} ms`);
  });
}

(async () => {
  for (const part of [assembly, trap, calls, long]) {
    await part();
    console.log(`${part.name} passes`);
  }
  console.log(`requests: ${[...used].sort().join(' ')}`);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
