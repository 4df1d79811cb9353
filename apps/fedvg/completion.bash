# Completion of fedvg for bash: source this file, or put it in
# ~/.local/share/bash-completion/completions/fedvg

_fedvg() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "run sweep compare check partition evaluate bench list --help --version" -- "$word"))
    return
  fi
  if [[ $command == bench && $before == --data ]]; then
    COMPREPLY=($(compgen -f -- "$word"))
    return
  fi
  case $before in
    --device) COMPREPLY=($(compgen -W "cpu cuda:0" -- "$word")); return ;;
    --format) COMPREPLY=($(compgen -W "text markdown csv latex" -- "$word")); return ;;
    --part) COMPREPLY=($(compgen -W "test validation training" -- "$word")); return ;;
    --data) COMPREPLY=($(compgen -f -X '!*.toml' -- "$word") $(compgen -d -S / -- "$word")); return ;;
    --out | -o | --output | --predictions) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --at) COMPREPLY=($(compgen -W "final best last:10" -- "$word")); return ;;
    --set | --workers | --jobs | --metric | --last | --rows | --columns | --baseline | --rounds) return ;;
  esac
  if [[ $word == -* ]]; then
    local options="--help"
    case $command in
      sweep) options+=" --set --out --jobs --dry-run --workers --device" ;;
      run) options+=" --set --out --resume --workers --device" ;;
      check) options+=" --set --workers --device" ;;
      partition) options+=" --set --output" ;;
      evaluate) options+=" --data --set --part --predictions --workers --device" ;;
      bench) options+=" --list --rounds --data --json --set --workers --device" ;;
      compare) options+=" --rows --columns --metric --at --last --baseline --format" ;;
      list) options+=" --markdown" ;;
    esac
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    return
  fi
  case $command in
    compare) COMPREPLY=($(compgen -d -- "$word")) ;;
    evaluate)
      COMPREPLY=($(compgen -f -X '!*.safetensors' -- "$word") $(compgen -d -S / -- "$word")) ;;
    bench)
      if ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W "fmnist-cnn cifar-cnn cifar-resnet18 derma-resnet18 \
          many-small-clients 1000-participants" -- "$word"))
      fi
      ;;
    list)
      if ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W "method correction weighting server-optimizer local-optimizer \
          model data partition validation corruption train scoring evaluate engine report" -- "$word"))
      fi
      ;;
    *) COMPREPLY=($(compgen -f -X '!*.toml' -- "$word") $(compgen -d -S / -- "$word")) ;;
  esac
}
complete -o filenames -F _fedvg fedvg
