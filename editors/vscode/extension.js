// Starts `numerate lsp` and lets the editor speak with it.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("numerate");
  const [command, ...args] = settings.get("command");
  client = new LanguageClient(
    "numerate",
    "numerate",
    { command, args },
    {
      documentSelector: settings.get("languages").map((language) => ({ language })),
      // What a project has chosen counts at once.
      synchronize: {
        fileEvents: vscode.workspace.createFileSystemWatcher("**/{numerate,pyproject}.toml"),
      },
    },
  );
  try {
    await client.start();
  } catch {
    client = undefined;
    vscode.window.showErrorMessage(
      `numerate: ${command} cannot be started. Install it with pip install 'numerate[lsp]', ` +
        "or say in the setting numerate.command where it is.",
    );
  }
}

async function stop() {
  await client?.stop();
  client = undefined;
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("numerate.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("numerate")) return restart();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
