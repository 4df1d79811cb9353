# Completion of fedvg for bash: source this file, or put it in
# ~/.local/share/bash-completion/completions/fedvg

_fedvg() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "run compare check partition list --help --version" -- "$word"))
    return
  fi
  case $before in
    --device) COMPREPLY=($(compgen -W "cpu cuda:0" -- "$word")); return ;;
    --format) COMPREPLY=($(compgen -W "text csv markdown" -- "$word")); return ;;
    --out | -o | --output) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --set | --workers | --metric | --last) return ;;
  esac
  if [[ $word == -* ]]; then
    local options="--help"
    case $command in
      run) options+=" --set --out --workers --device" ;;
      check) options+=" --set --workers --device" ;;
      partition) options+=" --set --output" ;;
      compare) options+=" --metric --last --format" ;;
      list) options+=" --markdown" ;;
    esac
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    return
  fi
  case $command in
    compare) COMPREPLY=($(compgen -d -- "$word")) ;;
    list)
      if ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W "method correction weighting server-optimizer local-optimizer \
          model data partition validation train scoring evaluate engine report" -- "$word"))
      fi
      ;;
    *) COMPREPLY=($(compgen -f -X '!*.toml' -- "$word") $(compgen -d -S / -- "$word")) ;;
  esac
}
complete -o filenames -F _fedvg fedvg
